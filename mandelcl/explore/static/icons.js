// The icons of the buttons: strokes in a square of 24 × 24.

const STROKES = {
  home: "M4 11 12 4l8 7M6 10v10h12V10",
  back: "M9 6 4 11l5 5M4 11h10a6 6 0 0 1 0 12",
  in: "M12 5v14M5 12h14",
  out: "M5 12h14",
  view: "M12 3v5M12 16v5M3 12h5M16 12h5M12 12h.01M17 12a5 5 0 1 1-10 0 5 5 0 0 1 10 0",
  formula: "M18 5h-3c-2 0-3 1-3 3l-1 8c0 2-1 3-3 3H6M8 11h8",
  colours: "M12 3a9 9 0 1 0 0 18c2 0 2-1.500 1.500-2.500-.8-1.500 0-3 2-3H18a3 3 0 0 0 3-3c0-5-4-9.500-9-9.500zM7.500 12h.01M9.500 8h.01M14.500 8h.01",
  places: "M12 21s-7-6-7-11a7 7 0 0 1 14 0c0 5-7 11-7 11zM14.500 10a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0",
  keep: "M7 4h10v16l-5-4-5 4z",
  minibrot: "M13 12a4 4 0 1 1 8 0 4 4 0 0 1-8 0M9 12a2 2 0 1 1 4 0 2 2 0 0 1-4 0M3 8V3h5M3 16v5h5",
  julia: "M12 12c-5-7-9-2-6 1s4 3 6-1 3-4 6-1-1 8-6 1",
  share: "M9 9h11v11H9zM5 15H4V4h11v1",
  save: "M12 4v11M7 11l5 5 5-5M4 20h16",
  devices: "M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4",
  compare: "M3 5h8v14H3zM13 5h8v14h-8",
  keys: "M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400M12 18h.01",
};

/** The icon of a tool. */
export function icon(name) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  made.setAttribute("viewBox", "0 0 24 24");
  made.setAttribute("aria-hidden", "true");
  path.setAttribute("d", STROKES[name]);
  made.append(path);
  return made;
}
