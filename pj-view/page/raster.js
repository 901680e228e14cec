// Draws thousands of rectangles into pixels, exactly and fast.

export class Raster {
  constructor() {
    this.image = new ImageData(1, 1);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.width = 0;
    this.height = 0;
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    if (this.width === width && this.height === height) return;
    this.width = width;
    this.height = height;
    this.image = new ImageData(Math.max(width, 1), Math.max(height, 1));
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** @param {number} color */
  clear(color) {
    this.pixels.fill(color);
  }

  /**
   * Draws a rectangle, given in whole pixels. Parts outside the raster are not drawn.
   * @param {number} left
   * @param {number} top
   * @param {number} right
   * @param {number} bottom
   * @param {number} color
   */
  rect(left, top, right, bottom, color) {
    const { width, pixels } = this;
    if (left < 0) left = 0;
    if (top < 0) top = 0;
    if (right > width) right = width;
    if (bottom > this.height) bottom = this.height;
    if (left >= right) return;
    if (right - left === 1) {
      for (let at = top * width + left, end = bottom * width; at < end; at += width) pixels[at] = color;
      return;
    }
    for (let y = top; y < bottom; y++) pixels.fill(color, y * width + left, y * width + right);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} x
   * @param {number} y
   */
  show(context, x, y) {
    context.putImageData(this.image, x, y);
  }
}

/**
 * Mixes two colours: `a`, and a part of `b`.
 * @param {number} a
 * @param {number} b
 * @param {number} part
 */
export function mix(a, b, part) {
  /** @type {(shift: number) => number} */
  const one = (shift) => Math.round(((a >>> shift) & 0xff) * (1 - part) + ((b >>> shift) & 0xff) * part) << shift;
  return (0xff000000 | one(16) | one(8) | one(0)) >>> 0;
}

/**
 * @param {number} a
 * @param {number} b
 */
export function isNear(a, b) {
  return [0, 8, 16].every((shift) => Math.abs(((a >>> shift) & 0xff) - ((b >>> shift) & 0xff)) < 24);
}

/** @param {number} color */
export function isLight(color) {
  return 0.299 * (color & 0xff) + 0.587 * ((color >>> 8) & 0xff) + 0.114 * ((color >>> 16) & 0xff) > 140;
}
