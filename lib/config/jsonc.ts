/**
 * Reads JSON with comments and trailing commas into a tree that knows where each value stands, so
 * that a message can name the line and a change can leave the rest of the file as it was.
 *
 * Two things that JSON.parse lets pass are errors here, because a person who reads the file would
 * not see which one counts: a key that stands twice in an object, and the key `__proto__`.
 *
 * @module
 */

import { type Node, parseTree, printParseErrorCode, visit } from "jsonc-parser";

/** A value and where it stands; offsets are UTF-16 code units. */
export type JsonNode = Node;

/** A place in a text, counted from 1. Columns are UTF-16 code units. */
export interface Position {
  line: number;
  column: number;
}

/** Nesting that is read; deeper is an error and not a stack overflow. */
export const MAX_DEPTH = 100;

/** The text is not JSON. The message says what stands there and what was wanted. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";

  constructor(message: string, readonly offset: number, readonly position: Position) {
    super(message);
  }
}

const OPTIONS = { allowTrailingComma: true };
const A_VALUE = "a value";
const A_KEY = 'a key in double quotes or "}"';
const BROKEN_STRING = "this text is not closed on its line, or holds an unknown escape";

/** What is said of a token that is broken itself. */
const BROKEN_TOKENS: Record<string, string | undefined> = {
  UnexpectedEndOfComment: "this comment is not closed",
  UnexpectedEndOfNumber: "this number lacks digits",
  UnexpectedEndOfString: BROKEN_STRING,
  InvalidUnicode: BROKEN_STRING,
  InvalidEscapeCharacter: BROKEN_STRING,
  InvalidCharacter: BROKEN_STRING,
};

/** Parses a whole text. Throws {@linkcode JsonSyntaxError}. */
export function parseJsonc(text: string): JsonNode {
  const json = text.replace(/^\ufeff/, " ");
  check(json);
  return parseTree(json, [], OPTIONS)!;
}

/** Where an offset is. */
export function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\n|\r/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** The members of an object. */
export function membersOf({ children = [] }: JsonNode): { key: JsonNode; value: JsonNode }[] {
  return children.map(({ children }) => ({ key: children![0]!, value: children![1]! }));
}

/** The value of a tree, as JSON.parse would give it. */
export function toValue(node: JsonNode): unknown {
  if (node.type === "array") return node.children!.map(toValue);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(
    membersOf(node).map(({ key, value }) => [key.value, toValue(value)]),
  );
}

/** Throws for the first thing that is wrong. */
function check(text: string): void {
  /** The keys of each object around; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let wanted = A_VALUE;

  const fail = (offset: number, message: string): never => {
    throw new JsonSyntaxError(message, offset, positionOf(text, offset));
  };
  const begin = (offset: number, keys?: Set<string>) => {
    if (open.push(keys) > MAX_DEPTH) fail(offset, `more than ${MAX_DEPTH} levels of nesting`);
    wanted = keys === undefined ? A_VALUE : A_KEY;
  };
  const afterValue = () => {
    wanted = open.length === 0
      ? "the end of the file"
      : open.at(-1) === undefined
      ? '"," or "]"'
      : '"," or "}"';
  };
  const end = (offset: number) => {
    // Called too where the text ends without the bracket.
    if (offset === text.length) return;
    open.pop();
    afterValue();
  };
  visit(text, {
    onObjectBegin: (offset) => begin(offset, new Set()),
    onArrayBegin: (offset) => begin(offset),
    onObjectEnd: end,
    onArrayEnd: end,
    onLiteralValue: afterValue,
    onSeparator(character) {
      wanted = character === ":" || open.at(-1) === undefined ? A_VALUE : A_KEY;
    },
    onObjectProperty(key, offset) {
      const keys = open.at(-1)!;
      const shown = JSON.stringify(key);
      if (key === "__proto__") fail(offset, `the key ${shown} is not accepted`);
      if (keys.has(key)) fail(offset, `the key ${shown} stands twice in this object`);
      keys.add(key);
      wanted = `":" after ${shown}`;
    },
    onError(code, offset) {
      const broken = BROKEN_TOKENS[printParseErrorCode(code)];
      if (broken !== undefined) fail(offset, broken);
      const found = text.codePointAt(offset);
      if (found !== undefined) {
        fail(offset, `expected ${wanted}, found ${JSON.stringify(String.fromCodePoint(found))}`);
      }
      if (open.length === 0) fail(offset, "the file is empty; an empty object is {}");
      fail(offset, `expected ${wanted}, found the end of the file`);
    },
  }, OPTIONS);
}
