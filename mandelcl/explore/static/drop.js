// Open files that are dropped on the page: pictures, fields, locations of other programs, and palettes.

/** Accept files dropped on `el`. Returns a function that stops this. */
export function takeDrops(el, explorer) {
  const over = (event) => {
    event.preventDefault();
    el.classList.add("dropping");
  };
  const leave = () => el.classList.remove("dropping");
  const drop = (event) => {
    event.preventDefault();
    leave();
    const file = event.dataTransfer?.files[0];
    if (file) open(file, explorer);
  };
  const listeners = { dragover: over, dragleave: leave, drop };
  for (const [kind, listener] of Object.entries(listeners)) el.addEventListener(kind, listener);
  return () => Object.entries(listeners).forEach(([kind, listener]) => el.removeEventListener(kind, listener));
}

/** Open the job, the location or the palettes of a file, which the server reads. */
export async function open(file, explorer) {
  const most = explorer.client.welcome.limits.upload ?? Infinity;
  if (file.size > most) return explorer.notify(`${file.name} is larger than the server accepts; try \`mandelcl explore --like\``, "warning");
  try {
    const opened = await explorer.client.upload(file.name, new Uint8Array(await file.arrayBuffer()));
    for (const note of opened.notes ?? []) explorer.notify(note, "warning");
    if (opened.palettes) {
      explorer.emit("palettes", opened.palettes);
      explorer.show({ colouring: { palette: opened.palettes[0], cycle: null, transfer: undefined, equalise: undefined, inside: undefined } }, "colour");
    } else explorer.open({ ...opened, auto: opened.auto_iterations });
    explorer.notify(`opened ${file.name}`);
  } catch (error) {
    explorer.notify(error.message, "warning");
  }
  return undefined;
}
