/**
 * Blocks of code between fences, line by line. It follows CommonMark closely enough for what models
 * write, takes time in proportion to the text whatever the text is, and needs no tree.
 *
 * @module
 */

/** A fence that is open. */
export interface Fence {
  /** Before the fence: indentation and quote markers; those of a list's item as spaces. */
  prefix: string;
  /** The backticks or tildes. */
  marks: string;
  /** Behind them, such as the language. */
  info: string;
}

/** Quote markers, indentation and at most one list marker. */
const OPEN = /^((?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,}|~{3,})([^\n]*)$/;

/** What a line does to the fence that is open before it: the fence that is open behind it. */
export function fenceAfter(line: string, open: Fence | undefined): Fence | undefined {
  if (open === undefined) return openedBy(line);
  const text = line.replace(/^(?:[ \t]*>)*[ \t]*/, "").trimEnd();
  const closes = text.length >= open.marks.length &&
    text === open.marks.charAt(0).repeat(text.length);
  if (closes) return undefined;
  // A quote ends with its last line, and a fence in it.
  const isQuoted = open.prefix.includes(">");
  return isQuoted && !/^[ \t]*>/.test(line) ? openedBy(line) : open;
}

function openedBy(line: string): Fence | undefined {
  // The expression is tried only where it can match, so that a long line costs nothing.
  if (!line.includes("```") && !line.includes("~~~")) return undefined;
  const found = OPEN.exec(line);
  if (found === null) return undefined;
  const [, before, marks, info] = found as unknown as [string, string, string, string];
  if (marks.startsWith("`") && info.includes("`")) return undefined;
  const prefix = before.replace(/[^\s>]/g, " ");
  return { prefix, marks, info: info.trim() };
}
