/**
 * Changes a JSON text into one that holds another value, and leaves everything that did not change
 * as it was written: comments, order, indentation, line ends.
 *
 * @module
 */

import { type JsonMember, type JsonNode, parseJsonc, toValue } from "./jsonc.ts";
import { isObject } from "../base/key_path.ts";
import { toSnake } from "../base/spelling.ts";

/** A piece of the text and what takes its place. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * The text with the value `target`. A key whose spelling changed from snake_case to camelCase stays
 * where it is; new keys come last in their object. Throws JsonSyntaxError for a text that is no
 * JSON.
 */
export function rewrite(text: string, target: unknown): string {
  const edits: Edit[] = [];
  const style = { newline: text.includes("\r\n") ? "\r\n" : "\n", unit: indentUnit(text) };
  change(parseJsonc(text), target);
  return apply(text, edits);

  function change(node: JsonNode, wanted: unknown): void {
    if (node.kind === "object" && isObject(wanted)) changeObject(node, wanted);
    else if (!sameJson(toValue(node), wanted)) {
      edits.push({ start: node.start, end: node.end, text: print(wanted, indentAt(node.start)) });
    }
  }

  function changeObject(
    node: JsonNode & { kind: "object" },
    wanted: Record<string, unknown>,
  ): void {
    const added = new Set(Object.keys(wanted));
    for (const { key } of node.members) added.delete(key);
    const removed = new Set<number>();
    node.members.forEach(({ key, keyStart, keyEnd, value }, at) => {
      if (Object.hasOwn(wanted, key)) return change(value, wanted[key]);
      const renamed = [...added].find((each) => toSnake(each) === key);
      if (renamed === undefined) {
        removed.add(at);
        return;
      }
      added.delete(renamed);
      edits.push({ start: keyStart, end: keyEnd, text: JSON.stringify(renamed) });
      change(value, wanted[renamed]);
    });
    if (removed.size === 0 && added.size === 0) return;
    if (removed.size === node.members.length) {
      // Nothing stays, so there is no member to put new ones beside.
      edits.push({ start: node.start, end: node.end, text: print(wanted, indentAt(node.start)) });
      return;
    }
    for (const at of removed) {
      // Its comma and its line go with it. A comment on a line of its own stays.
      const { keyStart, value } = node.members[at]!;
      const comma = commaAfter(text, value.end);
      const end = comma === undefined ? value.end : comma + 1;
      edits.push({ ...wholeLine(keyStart, end), text: "" });
    }
    const lastKept = node.members.findLastIndex((_, at) => !removed.has(at));
    const last = node.members[lastKept]!;
    const comma = commaAfter(text, last.value.end);
    const isLast = lastKept === node.members.length - 1;
    if (added.size > 0) {
      append(node, last, [...added], wanted, comma, comma !== undefined && isLast);
    } else if (comma !== undefined && !isLast) {
      // Strict JSON allows no comma behind the last member.
      edits.push({ start: comma, end: comma + 1, text: "" });
    }
  }

  /** Adds members behind `last`, whose comma, if it has one, is at `comma`. */
  function append(
    node: JsonNode,
    last: JsonMember,
    keys: readonly string[],
    wanted: Record<string, unknown>,
    comma: number | undefined,
    trailingComma: boolean,
  ): void {
    const oneLine = !/[\r\n]/.test(text.slice(node.start, node.end));
    const indent = indentAt(last.keyStart);
    const members = keys.map((key) =>
      `${oneLine ? " " : style.newline + indent}${JSON.stringify(key)}: ` +
      (oneLine ? JSON.stringify(wanted[key]) : print(wanted[key], indent))
    );
    const { end } = last.value;
    if (comma === undefined) edits.push({ start: end, end, text: "," });
    // A comment may follow on the line, so the comma stands before it and the members behind it.
    const place = commentsAfter(text, comma === undefined ? end : comma + 1);
    edits.push({
      start: place,
      end: place,
      text: members.join(",") + (trailingComma ? "," : ""),
    });
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

/** The text with each edit in place. An insertion at the edge of a removed span is kept. */
function apply(text: string, edits: Edit[]): string {
  let out = "";
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    out += text.slice(at, edit.start) + edit.text;
    at = Math.max(at, edit.end);
  }
  return out + text.slice(at);
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
  const between = /^(?:[ \t\r\n]|\/\/[^\r\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*/.exec(
    text.slice(offset),
  )![0];
  const at = offset + between.length;
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
