/**
 * Text of a message, with whose words it is. Only a person's own words are orders and give the gate
 * grounds (docs/security.md, "Whose words"); models and people are shown the rest marked.
 *
 * @module
 */

/** Whose words a text can be. */
export const PROVENANCES = [
  /** Written by the sender. */
  "own",
  /** Somebody else's, quoted or replied to. */
  "quoted",
  /** Somebody else's, passed on whole. */
  "forwarded",
  /** Content or name of a file, such as what is heard in a recording. */
  "file",
  /** Made by a program, such as a bot whose answer the sender posts. */
  "tool",
] as const;

/** One of {@linkcode PROVENANCES}. */
export type Provenance = typeof PROVENANCES[number];

/** A text of one provenance. */
export interface TextPart {
  text: string;
  /** Absent: `own`. */
  provenance?: Provenance;
  /** Who wrote it, or the name of the file; shown, never compared. */
  from?: string;
}

const MAX_FROM_CHARS = 200;

/** Every character that a program may show as the end of a line. */
// deno-lint-ignore no-control-regex
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** Whether it is in the sender's own words. A provenance that is unknown here is not. */
export function isOwn({ provenance }: Pick<TextPart, "provenance">): boolean {
  return provenance === undefined || provenance === "own";
}

/**
 * A text with its mark, which may be longer than the text. Somebody else's words have one on every line, so that no line of theirs passes
 * for the sender's; a file's stay as they are, under its name.
 */
export function markedText(part: TextPart): string {
  const { text, provenance } = part;
  if (isOwn(part)) return text;
  const from = nameOf(part);
  if (provenance === "file") return `[file${from === "" ? "" : `: ${from}`}]\n${text}`;
  const lines = text.split(LINE_END).map((line) => line.startsWith(">") ? line : `> ${line}`);
  // What people quote by typing ">" says what it is.
  if (provenance === "quoted" && from === "") return lines.join("\n");
  const what = provenance === "tool" ? "written by a program" : provenance;
  return [`[${what}${from === "" ? "" : `, from ${from}`}]`, ...lines].join("\n");
}

/** `from` in one line that ends no mark; "" for none. */
export function nameOf({ from = "" }: Pick<TextPart, "from">): string {
  return from.replace(/[\p{C}\p{Z}[\]]+/gu, " ").trim().slice(0, MAX_FROM_CHARS).toWellFormed();
}
