/**
 * Reads JSON with comments and trailing commas into a tree that knows where each value stands, so
 * that a message can name the line and a change can leave the rest of the file as it was.
 *
 * Two things that JSON.parse lets pass are errors here, because a person who reads the file would
 * not see which one counts: a key that stands twice in an object, and the key `__proto__`.
 *
 * @module
 */

/** A value and where it stands: `text.slice(start, end)`. Offsets are UTF-16 code units. */
export type JsonNode =
  & { start: number; end: number }
  & (
    | { kind: "object"; members: JsonMember[] }
    | { kind: "array"; items: JsonNode[] }
    | { kind: "scalar"; value: string | number | boolean | null }
  );

/** A key with its value. The key's span includes its quotes. */
export interface JsonMember {
  key: string;
  keyStart: number;
  keyEnd: number;
  value: JsonNode;
}

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

/** Parses a whole text. Throws {@linkcode JsonSyntaxError}. */
export function parseJsonc(text: string): JsonNode {
  return new Parser(text).document();
}

/** Where an offset is. */
export function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\n|\r/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** The value of a tree, as JSON.parse would give it. */
export function toValue(node: JsonNode): unknown {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "array":
      return node.items.map(toValue);
    case "object":
      return Object.fromEntries(node.members.map(({ key, value }) => [key, toValue(value)]));
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// Up to the quote that ends it: any character but controls, or an escape.
// deno-lint-ignore no-control-regex
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /[A-Za-z_$][A-Za-z0-9_$]*/y;
const BLANK = /(?:[ \t\r\n]|\/\/[^\r\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)+/y;

class Parser {
  #at = 0;
  #depth = 0;

  constructor(readonly text: string) {
    if (text.startsWith("\ufeff")) this.#at = 1;
  }

  document(): JsonNode {
    this.#blank();
    if (this.#at === this.text.length) this.#fail("the file is empty; an empty object is {}");
    const node = this.#value();
    this.#blank();
    if (this.#at < this.text.length) this.#expected("the end of the file");
    return node;
  }

  #value(): JsonNode {
    const start = this.#at;
    switch (this.text[start]) {
      case "{":
        return this.#object(start);
      case "[":
        return this.#array(start);
      case '"':
        return { kind: "scalar", start, value: this.#string(), end: this.#at };
    }
    const number = this.#take(NUMBER);
    if (number !== undefined) {
      return { kind: "scalar", start, value: Number(number), end: this.#at };
    }
    const word = this.#take(WORD);
    const value = word === "true" ? true : word === "false" ? false : word === "null" ? null : word;
    if (typeof value === "string" || value === undefined) {
      this.#at = start;
      this.#expected("a value");
    }
    return { kind: "scalar", start, value, end: this.#at };
  }

  #object(start: number): JsonNode {
    const members: JsonMember[] = [];
    const keys = new Set<string>();
    this.#list("}", () => {
      const keyStart = this.#at;
      if (this.text[keyStart] !== '"') this.#expected('a key in double quotes or "}"');
      const key = this.#string();
      const keyEnd = this.#at;
      if (key === "__proto__") this.#fail('the key "__proto__" is not accepted', keyStart);
      if (keys.has(key)) {
        this.#fail(`the key ${JSON.stringify(key)} stands twice in this object`, keyStart);
      }
      keys.add(key);
      this.#blank();
      if (this.text[this.#at] !== ":") this.#expected(`":" after ${JSON.stringify(key)}`);
      this.#at++;
      this.#blank();
      members.push({ key, keyStart, keyEnd, value: this.#value() });
    });
    return { kind: "object", start, end: this.#at, members };
  }

  #array(start: number): JsonNode {
    const items: JsonNode[] = [];
    this.#list("]", () => items.push(this.#value()));
    return { kind: "array", start, end: this.#at, items };
  }

  /** From the opening bracket to behind the closing one. */
  #list(close: "}" | "]", item: () => void): void {
    const open = this.#at++;
    if (++this.#depth > MAX_DEPTH) this.#fail(`more than ${MAX_DEPTH} levels of nesting`, open);
    this.#blank();
    while (this.text[this.#at] !== close) {
      item();
      this.#blank();
      if (this.text[this.#at] === ",") {
        this.#at++;
        this.#blank();
      } else if (this.text[this.#at] !== close) {
        this.#expected(`"," or "${close}"`);
      }
    }
    this.#at++;
    this.#depth--;
  }

  #string(): string {
    const start = this.#at;
    const literal = this.#take(STRING);
    if (literal === undefined) {
      this.#fail("this text is not closed on its line, or holds an unknown escape", start);
    }
    return JSON.parse(literal);
  }

  #blank(): void {
    this.#take(BLANK);
    if (this.text.startsWith("/*", this.#at)) this.#fail("this comment is not closed");
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text)?.[0];
    this.#at += match?.length ?? 0;
    return match;
  }

  #expected(what: string): never {
    const code = this.text.codePointAt(this.#at);
    const found = code === undefined
      ? "the end of the file"
      : JSON.stringify(String.fromCodePoint(code));
    this.#fail(`expected ${what}, found ${found}`);
  }

  #fail(message: string, offset = this.#at): never {
    throw new JsonSyntaxError(message, offset, positionOf(this.text, offset));
  }
}
