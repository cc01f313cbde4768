/**
 * What a part of a text repeats of the block of code that it begins or ends in.
 *
 * @module
 */

import type { Fence } from "./fences.ts";

/** How much of what is around it a part repeats: everything, no language, nothing. */
export type Frame = "whole" | "bare" | "none";

/** The line that opens a block of code again. */
export function opening(fence: Fence | undefined, frame: Frame): string {
  if (fence === undefined || frame === "none") return "";
  return `${quoteMarks(fence)}${fence.marks}${frame === "whole" ? fence.info : ""}\n`;
}

/** The line that closes it where its part ends. */
export function closing(fence: Fence | undefined, frame: Frame, dedent = 0): string {
  if (fence === undefined || frame === "none") return "";
  const prefix = fence.prefix.includes(">")
    ? fence.prefix
    : " ".repeat(Math.max(0, fence.prefix.length - dedent));
  return `\n${prefix}${fence.marks}`;
}

/** Marks of quotes before its lines; spaces alone fall away, with those of the code. */
export function quoteMarks(fence: Fence | undefined): string {
  return fence?.prefix.includes(">") ? fence.prefix : "";
}

/** Spaces before its lines. */
export function spacesOf(prefix: string): number {
  return prefix.includes(">") ? 0 : prefix.length;
}
