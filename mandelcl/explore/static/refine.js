// Antialiasing at rest: the server draws the picture as `mandelcl render` does, with further samples, and the page shows it.

const WAIT_MS = 600; // at rest, before further samples are requested
const KEPT = "mandelcl-antialias";

/** Refine the picture when the explorer rests. `explorer.refines` switches this on or off; the browser keeps it. */
export function refine(explorer) {
  let timer = null, asked = null;
  explorer.refines = stored() !== "off";
  const stop = () => {
    clearTimeout(timer);
    if (asked) explorer.client.stop(asked);
    asked = null;
  };
  const start = async () => {
    const [pane] = explorer.panes;
    if (!explorer.refines || !explorer.atRest || explorer.panes.length > 1 || pane.state !== "resting" || pane.refined || asked) return;
    asked = pane.askRefined(explorer.state.colouring);
    const own = asked;
    const said = await own.catch((error) => explorer.notify(error.message, "warning"));
    if (asked !== own) return;
    asked = null;
    if (said?.say === "refined") pane.refine(said.samples);
    if (said?.say === "refined") explorer.emit("refined", { pane, samples: said.samples, mean: said.mean });
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(start, WAIT_MS);
  };
  for (const kind of ["rest", "painted"]) explorer.on(kind, soon);
  for (const kind of ["asked", "recoloured"]) explorer.on(kind, stop);
  explorer.setRefines = (on) => {
    explorer.refines = on;
    store(on ? "on" : "off");
    stop();
    if (on) return soon();
    for (const pane of explorer.panes) pane.recolour(pane.colouring);
    return undefined;
  };
  return null;
}

/** The explorer's colouring, with the samples of the picture that is shown. */
export function shownColouring(explorer) {
  const { refined } = explorer.panes[0], { colouring } = explorer.state;
  return refined && refined.samples !== 1 ? { ...colouring, samples: refined.samples } : colouring;
}

function stored() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function store(value) {
  try {
    localStorage.setItem(KEPT, value);
  } catch {
    // without storage it is forgotten with the page
  }
}
