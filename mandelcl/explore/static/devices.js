// The devices panel: the self-test and the current rate of each device, and which devices are used.

import { element } from "./dom.js";

const STATES = { untested: "not tested yet", ready: "self-test passed", working: "working", refused: "self-test failed", lost: "its process has died" };

export function devices(explorer) {
  const { client } = explorer;
  const list = element("div", { class: "devices", role: "group", "aria-label": "Devices" });
  const use = (specs) => explorer.show({ job: { devices: specs } }, "devices");
  let known = [];
  const chosen = () => [...list.querySelectorAll("input:checked")].map(({ value }) => value);
  const fill = () => {
    if (known.length === 0) return list.replaceChildren("listing the devices …");
    const used = new Set(explorer.state?.job.devices ?? []), working = new Set(explorer.panes[0]?.settled?.devices ?? []);
    list.replaceChildren(...known.map(({ spec, name, platform, type, state, why, giter_per_s: rate }) => element(
      "label", { class: `device ${state}`, "data-spec": spec },
      element("input", { type: "checkbox", value: spec, checked: used.has(spec), disabled: state === "refused", "aria-label": `Use ${name}`, onchange: () => use(chosen()) }),
      element("span", {}, element("strong", {}, name), element("small", {}, `${spec} · ${platform} · ${type}`), element("small", { class: "verdict" }, why || STATES[state] || state)),
      element("output", {}, rate ? `${rate.toPrecision(3)} Giter/s` : working.has(spec) ? "in use" : ""),
    )));
    return undefined;
  };
  client.on("devices", (message) => {
    known = message.devices;
    explorer.deviceNames = new Map(known.map(({ spec, name }) => [spec, name]));
    fill();
    explorer.emit("devices", known);
  });
  fill();
  explorer.on("settled", fill);
  explorer.on("progress", ({ pane, message }) => {
    const specs = pane.settled?.devices ?? [];
    if (specs.length !== 1 || !message.giter_per_s) return;
    const shown = list.querySelector(`[data-spec="${CSS.escape(specs[0])}"] output`);
    if (shown) shown.textContent = `${message.giter_per_s.toPrecision(3)} Giter/s`;
  });
  const usable = () => known.filter(({ state }) => state !== "refused").map(({ spec }) => spec);
  const el = element(
    "div", {}, list,
    element("div", { class: "buttons" },
      element("button", { type: "button", onclick: () => use([]) }, "Use the fastest"),
      element("button", { type: "button", onclick: () => use(usable()) }, "Use all")),
    element("p", { class: "hint" }, "All devices give the same bits. Several share the picture."),
  );
  return { name: "devices", title: "Devices", icon: "devices", key: "d", el, show: () => client.send({ do: "devices" }) };
}
