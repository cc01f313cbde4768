/**
 * Width and height of a picture, from its first bytes: clients make room for it before it is there.
 *
 * @module
 */

/** In pixels. */
export interface PictureSize {
  width: number;
  height: number;
}

/** Of PNG, GIF, JPEG and WebP; undefined for anything else, and for what is cut off. Never throws. */
export function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  let size: PictureSize | undefined;
  try {
    if (text(1, 4) === "PNG") size = { width: view.getUint32(16), height: view.getUint32(20) };
    else if (text(0, 3) === "GIF") {
      size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    } else if (view.getUint16(0) === 0xFFD8) size = jpegSize(view);
    else if (text(0, 4) === "RIFF" && text(8, 12) === "WEBP") size = webpSize(view, text(12, 16));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

/** In the first frame header, SOF0 to SOF15 without the tables that lie between. */
function jpegSize(view: DataView): PictureSize | undefined {
  for (let at = 2; view.getUint8(at) === 0xFF;) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xC0 && marker <= 0xCF && ![0xC4, 0xC8, 0xCC].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function webpSize(view: DataView, kind: string): PictureSize | undefined {
  const uint24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  switch (kind) {
    case "VP8X":
      return { width: uint24(24) + 1, height: uint24(27) + 1 };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3FFF) + 1, height: ((bits >>> 14) & 0x3FFF) + 1 };
    }
    case "VP8 ":
      return {
        width: view.getUint16(26, true) & 0x3FFF,
        height: view.getUint16(28, true) & 0x3FFF,
      };
    default:
      return undefined;
  }
}
