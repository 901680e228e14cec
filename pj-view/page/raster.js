// Draws thousands of rectangles into pixels, exactly and fast.

export class Raster {
  resize(width, height) {
    if (this.image && this.width === width && this.height === height) return;
    [this.width, this.height] = [width, height];
    this.image = new ImageData(Math.max(width, 1), Math.max(height, 1));
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  clear(color) {
    this.pixels.fill(color);
  }

  // Draws a rectangle, given in whole pixels. Parts outside the raster are not drawn.
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

  show(context, x, y) {
    context.putImageData(this.image, x, y);
  }
}

export function mix(a, b, part) {
  const one = (shift) => Math.round(((a >>> shift) & 0xff) * (1 - part) + ((b >>> shift) & 0xff) * part) << shift;
  return (0xff000000 | one(16) | one(8) | one(0)) >>> 0;
}

export function isNear(a, b) {
  return [0, 8, 16].every((shift) => Math.abs(((a >>> shift) & 0xff) - ((b >>> shift) & 0xff)) < 24);
}

export function isLight(color) {
  return 0.299 * (color & 0xff) + 0.587 * ((color >>> 8) & 0xff) + 0.114 * ((color >>> 16) & 0xff) > 140;
}
