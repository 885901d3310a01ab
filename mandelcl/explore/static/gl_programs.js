// Programs and textures of WebGL 2.

/** A program, {use, uniforms}: uniform locations by name. Throws Error if the driver rejects it. */
export function link(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`the shader cannot be built: ${gl.getProgramInfoLog(program)}`);
  }
  const uniforms = new Proxy({}, { get: (kept, name) => (kept[name] ??= gl.getUniformLocation(program, name)) });
  return { use: () => gl.useProgram(program), uniforms };
}

/** A bound texture whose single texels are read. */
export function texture(gl, kind, wrap = gl.CLAMP_TO_EDGE) {
  const own = gl.createTexture();
  gl.bindTexture(kind, own);
  for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(kind, side, gl.NEAREST);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(kind, side, wrap);
  return own;
}
