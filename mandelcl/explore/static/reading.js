// Pictures of a browser without a GPU: they are read once they are ready, so that nothing in the page waits for them.

const LOOK_MS = 2; // between two looks at whether a picture is ready

/** Shows what WebGL has drawn on a canvas of its own on another one. The rows are drawn from the top down. */
export class Reading {
  constructor(gl, shown) {
    Object.assign(this, { gl, shown, image: null });
  }

  /** WebGL is there again after a loss. */
  begin() {
    this.buffer = this.gl.createBuffer();
    this.image = null;
  }

  /** Show the picture that has just been drawn, once it is ready: a promise. */
  async show(coarse) {
    const { gl, buffer } = this, { width, height } = gl.canvas;
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      gl.bufferData(gl.PIXEL_PACK_BUFFER, this.image.data.length, gl.STREAM_READ);
    }
    const { image } = this;
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, 0);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null); // else textures could not be uploaded
    const drawn = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    while (!gl.isContextLost() && gl.getSyncParameter(drawn, gl.SYNC_STATUS) !== gl.SIGNALED) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    if (gl.isContextLost() || image !== this.image) return;
    gl.deleteSync(drawn);
    this.put(image, coarse);
  }

  put(image, coarse) {
    const { gl, shown, buffer } = this, { width, height } = image;
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
    gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, image.data);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    if (shown.width !== width || shown.height !== height) Object.assign(shown, { width, height });
    shown.classList.toggle("coarse", coarse);
    shown.getContext("2d", { alpha: false }).putImageData(image, 0, 0);
  }
}
