/**
 * The text of a sealed file: a line that says what it is, and a line of JSON. The seal covers every
 * byte, so that no edit goes unnoticed.
 *
 * @module
 */

import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Damaged } from "./damaged.ts";
import type { Seal } from "./state_key.ts";

/** Version of the format. */
const STATE_VERSION = 1;

/** What a sealed text holds. */
export interface Sealed {
  /** What it is about; a text of one name does not pass for one of another. */
  name: string;
  /** One more with every version, so that an older one is known as such. */
  counter: number;
  body: unknown;
}

/** The text, sealed. */
export function sealText({ name, counter, body }: Sealed, seal: Seal): string {
  const json = JSON.stringify(body);
  return `${
    headerLine(STATE_VERSION, name, counter, sealOf(name, counter, json, seal))
  }\n${json}\n`;
}

/** What a text holds, if it is exactly what was sealed under this name. */
export function openText(text: string, name: string, seal: Seal): Sealed | Damaged {
  const newline = text.indexOf("\n");
  if (newline === -1 || !text.endsWith("\n") || newline === text.length - 1) {
    return { damaged: "it is cut" };
  }
  const header = parseHeader(text.slice(0, newline));
  if (header === undefined) return { damaged: "its first line is damaged" };
  if (header.v !== STATE_VERSION) {
    const damaged = `it has version ${header.v}, and this program knows ${STATE_VERSION}`;
    return { damaged, isNewer: true };
  }
  const json = text.slice(newline + 1, -1);
  const right = sealOf(name, header.counter, json, seal);
  if (header.name !== name || !isSame(header.seal, right)) {
    return { damaged: "its seal does not fit: it was edited, or sealed with another key" };
  }
  try {
    return { name, counter: header.counter, body: JSON.parse(json) };
  } catch {
    return { damaged: "it holds no JSON" };
  }
}

function headerLine(v: number, name: string, counter: number, seal: string): string {
  return JSON.stringify({ v, name, counter, seal });
}

/** Undefined unless the line is spelled as {@linkcode headerLine} does. */
function parseHeader(
  line: string,
): { v: number; name: string; counter: number; seal: string } | undefined {
  const found =
    /^\{"v":(\d{1,15}),"name":"([a-z.]{1,40})","counter":(\d{1,15}),"seal":"([0-9a-f]{64})"\}$/
      .exec(line);
  if (found === null) return undefined;
  const [, v, name, counter, seal] = found as unknown as [string, string, string, string, string];
  const header = { v: Number(v), name, counter: Number(counter), seal };
  return headerLine(header.v, name, header.counter, seal) === line ? header : undefined;
}

function sealOf(name: string, counter: number, json: string, seal: Seal): string {
  return seal(`service state ${STATE_VERSION}\n${name}\n${counter}\n${json}`);
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
