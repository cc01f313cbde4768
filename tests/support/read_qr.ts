/**
 * What a phone reads in a QR code that this program has drawn, by a decoder of its own.
 *
 * @module
 */

import decodeQR from "qr/decode.js";

/** Pixels of a module. */
const SCALE = 4;

/** In what a terminal shows: the lines of half blocks among all lines. */
export function readTerminalQr(text: string): string {
  const lines = text.split("\n").filter((line) => /^[ ▀▄█]{20,}$/.test(line));
  return decoded(lines[0]!.length, 2 * lines.length, (x, y) => {
    const block = lines[Math.floor(y / 2)]![x]!;
    return block === "█" || block === (y % 2 === 0 ? "▀" : "▄");
  });
}

/** In what the browser app shows: the path of a drawing, a square for each dark module. */
export function readSvgQr(path: string, size: number): string {
  const dark = new Set([...path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`));
  return decoded(size, size, (x, y) => dark.has(`${x} ${y}`));
}

function decoded(
  columns: number,
  rows: number,
  isDark: (x: number, y: number) => boolean,
): string {
  const [width, height] = [columns * SCALE, rows * SCALE];
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let at = 0; at < width * height; at++) {
    const [x, y] = [at % width, Math.floor(at / width)];
    if (isDark(Math.floor(x / SCALE), Math.floor(y / SCALE))) data.fill(0, at * 4, at * 4 + 3);
  }
  return decodeQR({ width, height, data });
}
