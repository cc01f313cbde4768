/**
 * A value of a setting as a channel is given it, from what a file, a form or a command line has for it.
 *
 * @module
 */

import type { SetupField, TextForm, TextFormat } from "../descriptor.ts";

/** Characters of one text. */
export const MAX_TEXT_CHARS = 65_536;

/** Items of one list. */
export const MAX_LIST_ITEMS = 10_000;

/** `value` is undefined where a blank stands for nothing; `expected`: what would have been right. */
export type ParsedValue = { value: unknown } | { expected: string };

const YES = ["true", "yes", "on", "1"];
const NO = ["false", "no", "off", "0"];

/** Name or number of a host, without a port. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)$/;

/**
 * Lists are lists of texts or one text with commas; numbers and truths may be texts. Blanks around a text
 * that is no secret do not count.
 */
export function parseValue(field: SetupField, value: unknown): ParsedValue {
  if (typeof value === "string") {
    if (value.length > MAX_TEXT_CHARS) {
      return { expected: `a text of at most ${MAX_TEXT_CHARS} characters` };
    }
    if (!value.isWellFormed() || value.includes("\0")) {
      return { expected: "a text without NUL and without halves of characters" };
    }
  }
  switch (field.kind) {
    case "secret":
    case "string": {
      if (typeof value !== "string") return { expected: "a text" };
      if (field.format !== undefined) return parseFormat(field.format, value.trim());
      return field.kind === "secret" ? { value } : inForm(field.form, { value: value.trim() });
    }
    case "int":
      return parseInteger(field, value);
    case "bool":
      return parseBool(value);
    case "list":
      return inForm(field.form, parseList(value));
    case "enum": {
      const text = typeof value === "string" ? value.trim() : value;
      if (typeof text === "string" && field.choices.includes(text)) return { value: text };
      if (text === "") return { value: undefined };
      return {
        expected: `one of ${field.choices.map((choice) => JSON.stringify(choice)).join(", ")}`,
      };
    }
  }
}

function inForm(form: TextForm | undefined, parsed: ParsedValue): ParsedValue {
  if (form === undefined || "expected" in parsed) return parsed;
  const { pattern, expected } = form;
  const whole = new RegExp(`^(?:${pattern})$`, "v");
  const texts = [parsed.value].flat() as string[];
  return texts.every((text) => text === "" || whole.test(text)) ? parsed : { expected };
}

function parseFormat(format: TextFormat, text: string): ParsedValue {
  if (text === "") return { value: "" };
  switch (format) {
    case "url": {
      const url = URL.parse(text);
      const isOther = url === null || !/^https?:$/.test(url.protocol) ||
        url.username + url.password + url.search + url.hash !== "";
      if (!isOther) return { value: url.href.replace(/\/+$/, "") };
      return { expected: "a URL such as https://chat.example.com, without a name, ? or #" };
    }
    case "host": {
      const host = text.replace(/^\[(.*)\]$/, "$1");
      return HOST.test(host) ? { value: host } : { expected: "a name or address without a port" };
    }
    case "phone": {
      const number = text.replace(/[\s().-]/g, "").replace(/^00/, "+");
      return /^\+[1-9]\d{5,14}$/.test(number)
        ? { value: number }
        : { expected: "a number with its country code, such as +4915112345678" };
    }
    case "token":
      return /^[\x21-\x7e]+$/.test(text)
        ? { value: text }
        : { expected: "it as it was shown, without blanks and letters that no token has" };
  }
}

function parseInteger(
  { min, max }: SetupField & { kind: "int" },
  value: unknown,
): ParsedValue {
  const text = typeof value === "string" ? value.trim() : undefined;
  if (text === "") return { value: undefined };
  const number = text === undefined ? value : /^[+-]?\d{1,16}$/.test(text) ? Number(text) : NaN;
  const right = typeof number === "number" && Number.isSafeInteger(number) &&
    number >= (min ?? -Infinity) && number <= (max ?? Infinity);
  if (right) return { value: number === 0 ? 0 : number };
  const range = min !== undefined && max !== undefined
    ? ` from ${min} to ${max}`
    : min !== undefined
    ? ` of at least ${min}`
    : max !== undefined
    ? ` of at most ${max}`
    : "";
  return { expected: `an integer${range}` };
}

function parseBool(value: unknown): ParsedValue {
  if (typeof value === "boolean") return { value };
  const text = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  if (text === "") return { value: undefined };
  if (text !== undefined && YES.includes(text)) return { value: true };
  if (text !== undefined && NO.includes(text)) return { value: false };
  return { expected: "true or false" };
}

function parseList(value: unknown): ParsedValue {
  const items = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(items) || !items.every((item) => typeof item === "string")) {
    return { expected: "a list of texts, or one text with commas" };
  }
  if (items.length > MAX_LIST_ITEMS) {
    return { expected: `a list of at most ${MAX_LIST_ITEMS} texts` };
  }
  if (items.some((item) => item.length > MAX_TEXT_CHARS)) {
    return { expected: `texts of at most ${MAX_TEXT_CHARS} characters` };
  }
  // A blank item would match a sender without an id.
  return { value: items.map((item) => item.trim()).filter((item) => item !== "") };
}
