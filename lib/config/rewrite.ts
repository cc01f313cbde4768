/**
 * Changes a JSON text into one that holds another value, and leaves everything that did not change
 * as it was written: comments, order, indentation, line ends.
 *
 * @module
 */

import { applyEdits, createScanner, type Edit } from "jsonc-parser";
import { type JsonNode, membersOf, parseJsonc, toValue } from "./jsonc.ts";
import { isObject } from "../base/key_path.ts";
import { toSnake } from "../base/spelling.ts";

/**
 * The text with the value `target`. A key whose spelling changed from snake_case to camelCase stays
 * where it is; new keys come last in their object. Throws JsonSyntaxError for a text that is no
 * JSON.
 */
export function rewrite(text: string, target: unknown): string {
  const edits: Edit[] = [];
  const style = { newline: text.includes("\r\n") ? "\r\n" : "\n", unit: indentUnit(text) };
  change(parseJsonc(text), target);
  return applyEdits(text, edits);

  function replace(start: number, end: number, content: string): void {
    edits.push({ offset: start, length: end - start, content });
  }

  function replaceNode({ offset, length }: JsonNode, wanted: unknown): void {
    replace(offset, offset + length, print(wanted, indentAt(offset)));
  }

  function change(node: JsonNode, wanted: unknown): void {
    if (node.type === "object" && isObject(wanted)) changeObject(node, wanted);
    else if (!sameJson(toValue(node), wanted)) replaceNode(node, wanted);
  }

  function changeObject(node: JsonNode, wanted: Record<string, unknown>): void {
    const members = membersOf(node);
    const added = new Set(Object.keys(wanted));
    for (const { key } of members) added.delete(key.value);
    const kept: typeof members = [];
    const removed: typeof members = [];
    for (const member of members) {
      const { key, value } = member;
      const isThere = Object.hasOwn(wanted, key.value);
      const name = isThere ? key.value : [...added].find((each) => toSnake(each) === key.value);
      (name === undefined ? removed : kept).push(member);
      if (name === undefined) continue;
      if (added.delete(name)) replaceNode(key, name);
      change(value, wanted[name]);
    }
    if (removed.length === 0 && added.size === 0) return;
    const last = kept.at(-1);
    // Nothing stays, so there is no member to put new ones beside.
    if (last === undefined) return replaceNode(node, wanted);
    for (const { key, value } of removed) {
      // Its comma and its line go with it. A comment on a line of its own stays.
      const end = value.offset + value.length;
      const comma = commaAfter(text, end);
      const line = wholeLine(key.offset, comma === undefined ? end : comma + 1);
      replace(line.start, line.end, "");
    }
    const end = last.value.offset + last.value.length;
    const comma = commaAfter(text, end);
    const isLast = last === members.at(-1);
    if (added.size > 0) {
      const isOneLine = !/[\r\n]/.test(text.slice(node.offset, node.offset + node.length));
      const indent = indentAt(last.key.offset);
      const content = [...added].map((key) =>
        `${isOneLine ? " " : style.newline + indent}${JSON.stringify(key)}: ` +
        (isOneLine ? JSON.stringify(wanted[key]) : print(wanted[key], indent))
      ).join(",");
      if (comma === undefined) replace(end, end, ",");
      // A comment may follow on the line, so the comma stands before it and the members behind it.
      const place = commentsAfter(text, comma === undefined ? end : comma + 1);
      replace(place, place, content + (comma !== undefined && isLast ? "," : ""));
    } else if (comma !== undefined && !isLast) {
      // Strict JSON allows no comma behind the last member.
      replace(comma, comma + 1, "");
    }
  }

  function print(value: unknown, indent: string): string {
    return JSON.stringify(value, null, style.unit).replaceAll("\n", style.newline + indent);
  }

  /** Blanks at the beginning of the line that an offset is on. */
  function indentAt(offset: number): string {
    const line = text.slice(Math.max(text.lastIndexOf("\n", offset - 1) + 1, 0), offset);
    return /^[ \t]*/.exec(line)![0];
  }

  /** The span, and its line if nothing else stands on it. */
  function wholeLine(start: number, end: number): { start: number; end: number } {
    const before = /(?:\r\n|\n|\r)?[ \t]*$/.exec(text.slice(0, start))![0];
    const after = /^[ \t]*/.exec(text.slice(end))![0];
    const next = text[end + after.length];
    const alone = /[\r\n]/.test(before) && (next === undefined || /[\r\n]/.test(next));
    if (alone) return { start: start - before.length, end: end + after.length };
    return { start, end: end + (/[\r\n]/.test(next ?? "") ? 0 : after.length) };
  }
}

/** The end of the comments that follow an offset on its line. */
function commentsAfter(text: string, offset: number): number {
  const rest = /^(?:[ \t]*(?:\/\/[^\r\n]*|\/\*(?:[^*\r\n]|\*(?!\/))*\*\/))*/.exec(
    text.slice(offset),
  )!;
  return offset + rest[0].length;
}

/** Where the comma behind a value stands; comments may come between. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : undefined;
}

/** What one level is indented with: the first indentation of the text, else two spaces. */
function indentUnit(text: string): string {
  return /[\r\n]([ \t]+)["/]/.exec(text)?.[1] ?? "  ";
}

/** Same JSON value; the order of an object's keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
      a.every((item, at) => sameJson(item, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return Object.is(a, b) || a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]));
}
