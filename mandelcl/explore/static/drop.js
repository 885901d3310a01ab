// Open pictures and fields of mandelcl that are dropped on the page.

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

/** Open the job of a file, which the server reads. */
export async function open(file, explorer) {
  const most = explorer.client.welcome.limits.upload ?? Infinity;
  if (file.size > most) return explorer.say(`${file.name} is larger than the server accepts; try \`mandelcl explore --like\``, "warning");
  try {
    explorer.open(await explorer.client.upload(file.name, new Uint8Array(await file.arrayBuffer())));
    explorer.say(`opened ${file.name}`);
  } catch (error) {
    explorer.say(error.message, "warning");
  }
  return undefined;
}
