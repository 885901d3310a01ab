// Marks drawn over a pane: the box of a drag, and differing pixels.

/** Draw marks over the panes on request. */
export function drawMarks(explorer) {
  let box = null, difference = null;
  const draw = (pane) => {
    const { marks } = pane, context = marks.getContext("2d");
    marks.hidden = !box && difference?.pane !== pane;
    context.clearRect(0, 0, marks.width, marks.height);
    if (difference?.pane === pane && difference.marks.length === 4 * marks.width * marks.height) {
      context.putImageData(new ImageData(difference.marks, marks.width, marks.height), 0, 0);
    }
    if (!box) return;
    const [x, y] = [0, 1].map((k) => Math.min(box.from[k], box.to[k]));
    context.strokeStyle = "#f2b134";
    context.lineWidth = 2 * devicePixelRatio;
    context.fillStyle = "rgb(242 177 52 / 12%)";
    const sides = [0, 1].map((k) => Math.abs(box.from[k] - box.to[k]));
    context.fillRect(x, y, ...sides);
    context.strokeRect(x, y, ...sides);
  };
  const all = () => explorer.panes.forEach(draw);
  explorer.on("boxing", (now) => {
    box = now;
    all();
  });
  explorer.on("difference", (now) => {
    if (difference === now) return;
    difference = now;
    all();
  });
}
