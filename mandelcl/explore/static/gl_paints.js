// The colours of layers, painted by WebGL 2 on one texture per layer: new pixels, or all pixels if colours change.

import { countWords } from "./frames.js";
import { link, texture } from "./gl_programs.js";
import { VERTEX, paint } from "./shaders.js";

const CHORD_ROW = 128; // chords per row of their texture
const TABLE_ROW = 256;
const WORD = 2 ** 32;

export class Paints {
  constructor(gl) {
    Object.assign(this, { gl, colouring: null });
    this.layers = new Map(); // layer to {words, painted, target, colouring, maxIterations}
    this.programs = new Map(); // by the features that they paint
    this.table = texture(gl, gl.TEXTURE_2D);
    this.chords = texture(gl, gl.TEXTURE_2D);
  }

  /** The texture with a layer's colours. */
  of(layer) {
    return this.layers.get(layer).painted;
  }

  /** Update a layer's texture. Counts from `maxIterations` on are inside. */
  bring(layer, maxIterations, colouring) {
    const known = this.layers.get(layer);
    const own = known ?? this.begin(layer);
    const changes = known ? layer.changes : layer.heldPlaces();
    this.upload(layer, own, changes);
    layer.changes = [];
    const same = !known || (own.colouring === colouring && own.maxIterations === maxIterations);
    const places = same ? changes : [...layer.heldPlaces(), ...changes];
    Object.assign(own, { colouring, maxIterations });
    if (places.length > 0) this.paint(layer, own, places);
  }

  begin(layer) {
    const { gl } = this, { width, height } = layer;
    const words = texture(gl, gl.TEXTURE_2D_ARRAY);
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.R32UI, width, height, Object.keys(layer.words).length);
    const painted = texture(gl, gl.TEXTURE_2D, gl.REPEAT);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, width, height);
    const target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, painted, 0);
    const own = { words, painted, target, colouring: null, maxIterations: 0 };
    this.layers.set(layer, own);
    return own;
  }

  /** Upload the changes of a layer to the GPU: a slice for each of its words. */
  upload(layer, { words }, changes) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, words);
    if (layer.frames) return void (changes.length > 0 && this.uploadFrames(layer.frames));
    gl.pixelStorei(gl.UNPACK_ROW_LENGTH, layer.width);
    const slices = Object.values(layer.words);
    for (const [x, y, width, height] of changes) {
      slices.forEach((values, k) => {
        gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, x, y, k, width, height, 1, gl.RED_INTEGER, gl.UNSIGNED_INT, values, y * layer.width + x);
      });
    }
    gl.pixelStorei(gl.UNPACK_ROW_LENGTH, 0);
  }

  /** Upload frames of values as they have come. */
  uploadFrames(frames) {
    const { gl } = this;
    for (const { column, row, width, height, words } of frames) {
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, column, row, 0, width, height, 1, gl.RED_INTEGER, gl.UNSIGNED_INT, words.values);
    }
  }

  paint(layer, { target, colouring, maxIterations }, places) {
    const { gl } = this, { uniforms } = this.use(colouring, countWords(layer.maxIterations).length > 1);
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.viewport(0, 0, layer.width, layer.height);
    gl.uniform1i(uniforms.layer, 2);
    gl.uniform1i(uniforms.valued, layer.frames ? 1 : 0);
    gl.uniform2ui(uniforms.own_limit, ...words(layer.maxIterations));
    gl.uniform2ui(uniforms.max_iterations, ...words(maxIterations));
    const names = Object.keys(layer.words);
    gl.uniform1i(uniforms.high, names.indexOf("high"));
    gl.uniform2i(uniforms.pairs, names.indexOf("distance_re"), names.indexOf("last_re"));
    for (const place of places) {
      gl.scissor(...place);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
  }

  /** Use the program for a colouring, and for counts of 64 bits if they are `wide`, and set its uniforms. */
  use({ cycles, table, continuous, effects }, wide) {
    const { gl } = this, rooted = cycles.kind === "rooted";
    const kind = { rooted, wide, fractions: continuous, effects: effects?.names ?? [] }, key = JSON.stringify(kind);
    if (!this.programs.has(key)) this.programs.set(key, link(gl, VERTEX, paint(kind)));
    const program = this.programs.get(key), { uniforms } = program;
    program.use();
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.table);
    if (this.colouring?.table !== table) putTable(gl, table);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.chords);
    if (rooted && this.colouring?.starts !== cycles.starts) putChords(gl, cycles);
    this.colouring = { table, starts: rooted ? cycles.starts : this.colouring?.starts };
    gl.uniform1i(uniforms.table, 0);
    gl.uniform1i(uniforms.chords, 1);
    gl.uniform1ui(uniforms.size, cycles.size);
    gl.uniform2ui(uniforms.per_count, ...(cycles.perCount ?? [0, 0]));
    gl.uniform2ui(uniforms.per_unit, ...(cycles.perUnit ?? [0, 0]));
    gl.uniform2ui(uniforms.start, ...(rooted ? [cycles.offset, 0] : cycles.start));
    for (const [name, values] of Object.entries(effects?.values ?? {})) gl[`uniform${values.length}f`](uniforms[name], ...values);
    return program;
  }

  /** Free the textures of all other layers, but those of layers that are kept for the next view in motion. */
  keep(layers) {
    const { gl } = this;
    for (const [layer, { words, painted, target }] of this.layers) {
      if (layers.includes(layer) || layer.spare) continue;
      gl.deleteFramebuffer(target);
      gl.deleteTexture(words);
      gl.deleteTexture(painted);
      this.layers.delete(layer);
    }
  }
}

/** The words of a count, the low one first. */
function words(count) {
  return [count >>> 0, Math.floor(count / WORD)];
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
