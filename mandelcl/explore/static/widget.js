// The explorer as a notebook widget, in its own shadow root: the styles and keys of notebook and page stay separate.

import { CommTransport } from "./comm.js";
import { element } from "./dom.js";
import { start } from "./start.js";

/** A widget for anywidget. `css` is the page's style sheet, `worker` the URL of paint_worker.js. */
export function widget(css, worker) {
  return { render: ({ model, el }) => render(model, el, css, worker) };
}

function render(model, el, css, worker) {
  const [width, height] = model.get("size");
  const box = element("div", { style: "width: 100%; height: 100%" });
  const host = element("div", {
    class: "mandelcl", style: `width: min(100%, ${width}px); height: ${height}px`,
    "data-lm-suppress-shortcuts": "true", // otherwise JupyterLab's own keys would take precedence
  });
  host.attachShadow({ mode: "open" }).append(element("style", {}, css), box);
  host.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(host);
  const note = (hash) => {
    model.set("_address", hash);
    model.save_changes();
  };
  const transport = new CommTransport(model);
  transport.onbusy = () => box.explorer.notify("the kernel is busy or has ended; this continues when it answers", "warning");
  const end = start({
    el: box,
    transport,
    address: { read: () => model.get("_address"), replace: note, push: note, listen: () => {}, share: (hash) => hash },
    startWorker: () => startWorker(worker),
    keys: box,
  });
  return () => {
    end();
    host.remove();
  };
}

/** A worker, or null if the notebook's page may not have one. */
function startWorker(address) {
  try {
    return new Worker(address, { type: "module" });
  } catch {
    return null;
  }
}
