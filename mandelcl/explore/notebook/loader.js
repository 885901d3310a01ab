// What a notebook loads for the explorer. `BUNDLE` stands before this: the page's modules in dependency order, as pairs
// of
// names and texts; its style sheet; and a digest of all of them.

/** The URLs of the modules by name. They are made once for all widgets on a page. */
function addresses() {
  const known = (globalThis[Symbol.for("mandelcl modules")] ??= new Map());
  if (!known.has(BUNDLE.digest)) {
    const made = {};
    for (const [name, text] of BUNDLE.modules) {
      const linked = text.replace(/ from "\.\/([^"]+)";/g, (_, other) => ` from "${made[other]}";`);
      made[name] = URL.createObjectURL(new Blob([linked, `\n//# sourceURL=mandelcl/${name}\n`], { type: "text/javascript" }));
    }
    known.set(BUNDLE.digest, made);
  }
  return known.get(BUNDLE.digest);
}

export default async () => {
  const made = addresses();
  const { widget } = await import(made["widget.js"]);
  return widget(BUNDLE.css, made["paint_worker.js"]);
};
