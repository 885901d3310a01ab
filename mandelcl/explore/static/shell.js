// The frame around the panes: a toolbar, a side panel, a status line and messages for the user.

import { button, element } from "./dom.js";
import { icon } from "./icons.js";

const LINE_MS = 8000;

export class Shell {
  constructor(el, explorer) {
    this.explorer = explorer;
    this.panes = element("div", { class: "panes" });
    this.bar = element("nav", { class: "bar", "aria-label": "Tools" });
    this.body = element("div", { class: "panel-body" });
    this.title = element("h2", {});
    this.panel = element(
      "aside", { class: "panel", hidden: true, "aria-label": "Panel" },
      element("header", {}, this.title, button("✕", "Close the panel", () => this.toggle(this.open))), this.body,
    );
    this.status = element("footer", { class: "status", "aria-label": "Status" });
    this.lines = element("div", { class: "lines", role: "status", "aria-live": "polite" });
    this.absence = element("section", { class: "absence", role: "alert", hidden: true });
    this.el = element("div", { class: "explorer" }, this.panes, this.bar, this.panel, this.lines, this.status, this.absence);
    el.replaceChildren(this.el);
    this.sections = new Map();
    this.watcher = new ResizeObserver(() => this.measure());
    this.watcher.observe(this.panes);
    explorer.on("line", ({ line, kind }) => this.notify(line, kind));
  }

  /** Add a panel, {name, title, icon, key, el, show, hide}, or a plain button, {name, icon, key, act}. */
  add(section) {
    if (!section) return;
    const act = section.act ?? (() => this.toggle(section.name));
    const name = section.key ? `${section.title} (${section.key})` : section.title;
    const label = element("span", { class: "label", "aria-hidden": "true" }, section.label ?? section.title.replace(/ \(.*/, ""));
    section.button = button(section.icon ? [icon(section.icon), label] : "", name, act, { "data-tool": section.name, "aria-pressed": section.act ? null : "false" });
    if (section.icon) this.bar.append(section.button);
    this.sections.set(section.name, section);
  }

  /** Open or close a panel. */
  toggle(name) {
    const before = this.sections.get(this.open), next = name === this.open ? null : this.sections.get(name);
    before?.button.setAttribute("aria-pressed", "false");
    before?.hide?.();
    this.open = next?.name;
    this.panel.hidden = !next;
    this.el.classList.toggle("with-panel", Boolean(next));
    if (!next) return;
    next.button.setAttribute("aria-pressed", "true");
    this.title.textContent = next.title;
    this.body.replaceChildren(next.el);
    next.show?.();
  }

  act(name) {
    const section = this.sections.get(name);
    if (section?.act) section.act();
    else if (section) this.toggle(name);
  }

  /** Show only the picture, or everything. */
  bare() {
    this.el.classList.toggle("bare");
  }

  addPane(pane) {
    this.panes.append(pane.el);
    pane.el.tabIndex = 0;
    pane.el.setAttribute("role", "application");
    pane.el.setAttribute("aria-label", "The picture; press ? for the keys");
    this.measure();
  }

  /** Tell the explorer a pane's size in device pixels. */
  measure() {
    const { panes } = this.explorer;
    if (panes.length === 0) return;
    const box = panes[0].el.getBoundingClientRect(), scale = devicePixelRatio;
    const size = [box.width, box.height].map((side) => Math.max(2, Math.round(side * scale)));
    this.explorer.resize(size);
    for (const pane of panes) if (pane.marks.width !== size[0] || pane.marks.height !== size[1]) pane.resize(size);
  }

  notify(line, kind = "note") {
    if (this.lines.lastChild?.textContent === line) this.lines.lastChild.remove();
    const shown = element("p", { class: `line ${kind}` }, line);
    this.lines.append(shown);
    while (this.lines.children.length > 4) this.lines.firstChild.remove();
    setTimeout(() => shown.remove(), LINE_MS);
  }

  /** Cover everything with the reason why there is no server; null removes it. */
  absent(parts) {
    this.absence.hidden = parts === null;
    const text = parts?.map((part) => part?.textContent).join();
    if (parts && text !== this.absence.dataset.text) this.absence.replaceChildren(...parts.filter(Boolean));
    this.absence.dataset.text = text ?? "";
  }

  close() {
    this.watcher.disconnect();
    this.el.remove();
  }
}
