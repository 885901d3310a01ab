// Drawing with WebGL 2: layers as textures of whole numbers, coloured as they are drawn.

import { FRAGMENT, LAYERS, VERTEX } from "./shaders.js";

const CHORD_ROW = 128; // chords a row of their texture
const TABLE_ROW = 256;

/** Draws layers on a canvas; null where the browser has no WebGL 2. */
export function createRenderer(canvas) {
  const options = { alpha: false, antialias: false, depth: false, preserveDrawingBuffer: true };
  const gl = canvas.getContext("webgl2", options);
  return gl === null ? null : new Renderer(canvas, gl);
}

class Renderer {
  constructor(canvas, gl) {
    Object.assign(this, { canvas, gl, lost: false });
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
    this.textures = new Map(); // of layers
    this.program = link(gl);
    this.uniforms = new Proxy({}, { get: (kept, name) => (kept[name] ??= gl.getUniformLocation(this.program, name)) });
    this.table = texture(gl);
    this.chords = texture(gl);
    this.colouring = null;
    gl.bindVertexArray(gl.createVertexArray());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  /** Draw a view of these layers in these colours: {turns, table, continuous, effects}. */
  draw(layers, view, cap, colouring) {
    const { gl, uniforms } = this;
    if (this.lost || gl.isContextLost()) return;
    gl.viewport(0, 0, ...view.size);
    gl.useProgram(this.program);
    this.colour(colouring);
    let used = 0;
    for (const layer of layers) {
      const map = used < LAYERS ? layer.mapFrom(view) : null;
      if (map !== null) this.bind(layer, map, used++);
    }
    for (let k = used; k < LAYERS; k++) gl.uniform1i(uniforms[`layer${k}`], 2 + k);
    gl.uniform1i(uniforms.used, used);
    gl.uniform1ui(uniforms.cap, cap);
    gl.uniform2f(uniforms.middle, (view.size[0] - 1) / 2, (view.size[1] - 1) / 2);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    this.forget(layers);
  }

  bind(layer, { a, b, c, d, x, y }, k) {
    const { gl, uniforms } = this;
    gl.activeTexture(gl.TEXTURE2 + k);
    this.upload(layer);
    gl.uniform1i(uniforms[`layer${k}`], 2 + k);
    gl.uniform4f(uniforms[`turn${k}`], a, b, c, d);
    gl.uniform2f(uniforms[`shift${k}`], x, y);
    gl.uniform4i(uniforms[`window${k}`], layer.left, layer.top, layer.width, layer.height);
    gl.uniform2i(uniforms[`first${k}`], ...layer.at(layer.left, layer.top));
    gl.uniform1ui(uniforms[`cap${k}`], layer.cap);
    const names = Object.keys(layer.words);
    gl.uniform2i(uniforms[`pairs${k}`], names.indexOf("distance_re"), names.indexOf("last_re"));
  }

  /** Bring a layer's texture up to date: a slice for each of its words. */
  upload(layer) {
    const { gl } = this;
    const known = this.textures.get(layer);
    const own = known ?? texture(gl, gl.TEXTURE_2D_ARRAY);
    this.textures.set(layer, own);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, own);
    const slices = Object.values(layer.words);
    const put = ([x, y, width, height], from) => slices.forEach((words, k) => {
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, x, y, k, width, height, 1, gl.RED_INTEGER, gl.UNSIGNED_INT, words, from);
    });
    if (known === undefined || layer.changes === null) {
      if (known === undefined) gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.R32UI, layer.width, layer.height, slices.length);
      put([0, 0, layer.width, layer.height], 0);
    } else if (layer.changes.length > 0) {
      gl.pixelStorei(gl.UNPACK_ROW_LENGTH, layer.width);
      for (const change of layer.changes) put(change, change[1] * layer.width + change[0]);
      gl.pixelStorei(gl.UNPACK_ROW_LENGTH, 0);
    }
    layer.changes = [];
  }

  colour({ turns, table, continuous, effects }) {
    const { gl, uniforms } = this;
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.table);
    if (this.colouring?.table !== table) putTable(gl, table);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.chords);
    const rooted = turns.kind === "rooted";
    if (rooted && this.colouring?.starts !== turns.starts) putChords(gl, turns);
    else if (this.colouring === null && !rooted) putChords(gl, { starts: new Uint32Array(1), rises: new Uint32Array(1) });
    this.colouring = { table, starts: rooted ? turns.starts : this.colouring?.starts };
    gl.uniform1i(uniforms.table, 0);
    gl.uniform1i(uniforms.chords, 1);
    gl.uniform1i(uniforms.rooted, rooted ? 1 : 0);
    gl.uniform1i(uniforms.fractions, continuous ? 1 : 0);
    gl.uniform1ui(uniforms.size, turns.size);
    gl.uniform2ui(uniforms.per_count, ...(turns.perCount ?? [0, 0]));
    gl.uniform2ui(uniforms.per_unit, ...(turns.perUnit ?? [0, 0]));
    gl.uniform1i(uniforms.lit, effects ? 1 : 0);
    for (const [name, values] of Object.entries(effects ?? {})) gl[`uniform${values.length}f`](uniforms[name], ...values);
    gl.uniform2ui(uniforms.start, ...(rooted ? [turns.offset, 0] : turns.start));
  }

  /** Give back the textures of layers that are no longer drawn. */
  forget(layers) {
    for (const [layer, own] of this.textures) {
      if (layers.includes(layer)) continue;
      this.gl.deleteTexture(own);
      this.textures.delete(layer);
    }
  }
}

function putTable(gl, table) {
  const colours = table.length / 3, rows = Math.ceil(colours / TABLE_ROW);
  const texels = new Uint8Array(4 * TABLE_ROW * rows).fill(255);
  for (let k = 0; k < colours; k++) texels.set(table.subarray(3 * k, 3 * k + 3), 4 * k);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, TABLE_ROW, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
}

function putChords(gl, { starts, rises }) {
  const rows = Math.ceil(starts.length / CHORD_ROW);
  const texels = new Uint32Array(2 * CHORD_ROW * rows);
  starts.forEach((start, k) => texels.set([start, rises[k]], 2 * k));
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG32UI, CHORD_ROW, rows, 0, gl.RG_INTEGER, gl.UNSIGNED_INT, texels);
}

function texture(gl, kind = gl.TEXTURE_2D) {
  const own = gl.createTexture();
  gl.bindTexture(kind, own);
  for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(kind, side, gl.NEAREST);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(kind, side, gl.CLAMP_TO_EDGE);
  return own;
}

function link(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`the shader does not build: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}
