// Drawing with WebGL 2: each layer is painted where pixels arrive or colours change, then drawn at its position.

import { element } from "./dom.js";
import { Paints } from "./gl_paints.js";
import { link } from "./gl_programs.js";
import { Reading } from "./reading.js";
import { SHOW, VERTEX } from "./shaders.js";

const MAGNIFIED = 0.5; // pixels of a layer per pixel of the canvas: fewer are blended, so that no squares show
const EMULATORS = /swiftshader|llvmpipe|softpipe|basic render|software/i;
const GROUND = [0.055, 0.06, 0.075, 1]; // where no pixels are known

/** A renderer of layers on a canvas; null if the browser lacks WebGL 2. */
export function createRenderer(canvas) {
  const wanted = { alpha: false, antialias: false, depth: false };
  const own = element("canvas", {}), gl = own.getContext("webgl2", wanted);
  if (gl === null || emulated(gl)) return gl && new Renderer(own, gl, new Reading(gl, canvas));
  gl.getExtension("WEBGL_lose_context")?.loseContext(); // it was only asked for its name
  return new Renderer(canvas, canvas.getContext("webgl2", wanted));
}

/** Whether the processor stands in for a GPU. Not every browser reports that as a performance caveat. */
function emulated(gl) {
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  return EMULATORS.test([gl.RENDERER, ...(named ? [named.UNMASKED_RENDERER_WEBGL] : [])].map((name) => gl.getParameter(name)).join());
}

class Renderer {
  /** With a `reading`, the canvas is none that is shown: without a GPU, the browser would wait for each of its pictures. */
  constructor(canvas, gl, reading = null) {
    Object.assign(this, { canvas, gl, reading, lost: false });
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.begin();
      this.onrestored?.();
    });
    this.begin();
  }

  begin() {
    const { gl } = this;
    this.program = link(gl, VERTEX, SHOW);
    this.paints = new Paints(gl);
    this.reading?.begin();
    gl.bindVertexArray(gl.createVertexArray());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.enable(gl.SCISSOR_TEST);
    gl.clearColor(...GROUND);
  }

  /** Draw a view of these layers, the first one on top, with this colouring: {cycles, table, continuous, effects}.
   *
   * The canvas gets this size: while the view moves, it may have fewer columns and rows than the view. Returns a promise
   * of the picture if that is shown later.
   */
  draw(layers, view, maxIterations, colouring, size) {
    const { gl } = this;
    if (this.lost || gl.isContextLost()) return undefined;
    const shown = visible(layers, view);
    for (const { layer } of shown) this.paints.bring(layer, maxIterations, colouring);
    this.paints.keep(layers);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    const coarse = size[1] < view.size[1];
    this.fit(size, coarse);
    gl.viewport(0, 0, ...size);
    gl.scissor(0, 0, ...size);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.program.use();
    gl.activeTexture(gl.TEXTURE0);
    for (const { layer, map } of shown.reverse()) this.show(layer, map, view.size);
    return this.reading?.show(coarse);
  }

  fit([width, height], coarse) {
    const { canvas } = this;
    if (canvas.width === width && canvas.height === height) return;
    Object.assign(canvas, { width, height });
    canvas.classList.toggle("coarse", coarse);
  }

  show(layer, map, [width, height]) {
    const { gl, canvas } = this, { uniforms } = this.program;
    const edges = layer.edges(map, [width, height]);
    if (edges === null) return;
    // From the corners of WebGL's target, whose first row is the last one that is shown, to pixels from the middle.
    const [across, down] = [width / 2, this.reading ? height / 2 : -height / 2];
    const [wide, high] = [layer.width, layer.height], first = layer.at(layer.left, layer.top);
    const finer = [width / canvas.width, height / canvas.height]; // pixels of the view per pixel of the canvas
    const inside = (at, side) => Math.ceil(at / finer[side] - 0.5); // the first pixel of the canvas whose middle is not before
    const bottom = this.reading ? edges[1] : height - edges[1] - edges[3], [x, y] = [inside(edges[0], 0), inside(bottom, 1)];
    gl.scissor(x, y, inside(edges[0] + edges[2], 0) - x, inside(bottom + edges[3], 1) - y);
    gl.bindTexture(gl.TEXTURE_2D, this.paints.of(layer));
    const filter = Math.abs(map.a * map.d - map.b * map.c) * finer[0] * finer[1] < MAGNIFIED ? gl.LINEAR : gl.NEAREST;
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, filter);
    gl.uniform1i(uniforms.painted, 0);
    gl.uniform2f(uniforms.half_pixel, 0.5 / wide, 0.5 / high);
    gl.uniformMatrix2fv(uniforms.turn, false, [(map.a * across) / wide, (map.c * across) / high, (map.b * down) / wide, (map.d * down) / high]);
    gl.uniform2f(uniforms.shift, (map.x + 0.5 - layer.left) / wide, (map.y + 0.5 - layer.top) / high);
    gl.uniform2f(uniforms.first, first[0] / wide, first[1] / high);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

/** The visible layers of a view, with their maps: none below a layer that covers all of it. */
function visible(layers, view) {
  const shown = [];
  for (const layer of layers) {
    const map = layer.held.length > 0 ? layer.mapFrom(view) : null;
    if (map !== null) shown.push({ layer, map });
    if (map !== null && layer.fills(map, view.size)) break;
  }
  return shown;
}
