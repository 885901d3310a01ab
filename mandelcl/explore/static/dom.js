// Helpers for the document.

/** An element with attributes and children; `on…` attributes are listeners; true and false ones are switches. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** A button with a name for screen readers and the same text as a tooltip. */
export function button(label, name, onclick, attributes = {}) {
  return element("button", { type: "button", "aria-label": name, title: name, onclick, ...attributes }, label);
}

/** A labelled control in a row. */
export function row(label, ...controls) {
  return element("label", { class: "row" }, element("span", {}, label), ...controls);
}

/** A number as people read it: 12 345 678, 1.2e9. */
export function plain(value) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1e9) return value.toExponential(2);
  return `${Math.round(value)}`.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Bytes as people read them. */
export function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let k = 0, value = bytes;
  while (value >= 1000 && k < units.length - 1) {
    value /= 1000;
    k++;
  }
  return `${k === 0 ? value : value.toFixed(1)} ${units[k]}`;
}
