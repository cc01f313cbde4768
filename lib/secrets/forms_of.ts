/**
 * The forms in which the value of a secret comes to stand in texts.
 *
 * @module
 */

/** One form of a value. */
export interface Form {
  text: string;
  /** Programs break it into lines. */
  wrapped: boolean;
}

/** Shorter values are too likely to be words of a text. */
export const MIN_SECRET_CHARS = 8;
/** Lines of a value that are shorter are too likely to be lines of other texts. */
const MIN_LINE_CHARS = 16;
/** Lines of one value that are known by themselves: each has forms of its own, which take memory. */
const MAX_LINES = 200;
/** The same of a value in small letters, which more words are spelt in. */
const MIN_HOST_CHARS = 12;

/** First and last line of a PEM: no secret. */
const PEM_EDGE = /^-----(BEGIN|END) [A-Z0-9 ]+-----$/;
// deno-lint-ignore no-control-regex
const IN_QUERY = /[\u0000- \u007f-\uffff"#<>]+/g;
// deno-lint-ignore no-control-regex
const IN_PATH = /[\u0000- \u007f-\uffff"#<>?^`{}]+/g;
// deno-lint-ignore no-control-regex
const IN_USER = /[\u0000- \u007f-\uffff"#<>?^`{}/:;=@[\\\]|]+/g;
/** What a header says before a key. */
const SCHEME = /^(?:Bearer|Basic|Token|Bot|ApiKey) +(\S+)$/i;

/** Every form of a value, each once; none of a value that is too short. */
export function formsOf(value: string): Form[] {
  const forms = new Map<string, boolean>();
  for (const part of partsOf(value)) {
    const spelt = [part, ...inJson(part), ...inUrls(part), ...inHtml(part), ...inShells(part)];
    for (const text of [...spelt, ...asHost(part)]) forms.set(text, false);
    // In a JSON that is encoded it stands as JSON spells it.
    for (const text of [part, JSON.stringify(part).slice(1, -1)].flatMap(encoded)) {
      if (!forms.has(text)) forms.set(text, true);
    }
    for (const text of encodedInUrls(part)) if (!forms.has(text)) forms.set(text, false);
  }
  return [...forms].map(([text, wrapped]) => ({ text, wrapped }));
}

/** The value, and what of it is a secret by itself: the key in a header, the lines of a PEM. */
function partsOf(value: string): Set<string> {
  const trimmed = value.trim();
  const key = SCHEME.exec(trimmed)?.[1] ?? "";
  const parts = [value, trimmed, key].filter(({ length }) => length >= MIN_SECRET_CHARS);
  const lines = trimmed.split(/[\r\n]+/).map((line) => line.trim());
  if (lines.length > 1) {
    const known = lines.filter((line) => line.length >= MIN_LINE_CHARS && !PEM_EDGE.test(line));
    // Keys are longer than what stands around them.
    parts.push(...known.toSorted((a, b) => b.length - a.length).slice(0, MAX_LINES));
  }
  return new Set(parts);
}

/** As writers of JSON spell it, and as a text in a JSON in a JSON. */
function inJson(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = (form: string, hex: (code: string) => string) =>
    form.replace(/[\u007f-\uffff]/g, (char) => `\\u${hex(codeOf(char))}`);
  const forms = [
    plain,
    ascii(plain, (code) => code),
    ascii(plain, (code) => code.toUpperCase()),
    plain.replace(/[<>&]/g, (char) => `\\u${codeOf(char)}`),
  ];
  forms.push(...forms.map((form) => form.replaceAll("/", "\\/")));
  return [...forms, JSON.stringify(plain).slice(1, -1)];
}

function codeOf(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, "0");
}

/** As it stands in queries, paths and forms; hexadecimal digits in both cases. */
function inUrls(text: string): string[] {
  if (!text.isWellFormed()) return [];
  const component = encodeURIComponent(text);
  const strict = component.replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const forms = [
    component,
    strict,
    // Python's `quote` and most paths leave slashes.
    strict.replaceAll("%2F", "/"),
    component.replaceAll("%2F", "/"),
    encodeURI(text),
    // What the URL standard encodes in a query, a path and a user's name.
    ...[IN_QUERY, IN_PATH, IN_USER].map((encoded) => text.replace(encoded, encodeURIComponent)),
    component.replaceAll("%20", "+"),
    strict.replaceAll("%20", "+"),
    new URLSearchParams([["", text]]).toString().slice(1),
  ];
  return [...forms, ...forms.map(lowerHex)];
}

/** As writers of HTML and XML escape it; they differ in quotes alone. */
function inHtml(text: string): string[] {
  if (!/[&<>"']/.test(text)) return [];
  const tags = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["&quot;", "&#34;", '"'].flatMap((double) =>
    ["&#39;", "&#x27;", "&apos;", "&#039;", "'"].map((single) =>
      tags.replaceAll('"', double).replaceAll("'", single)
    )
  );
}

/**
 * As shells and programming languages quote it: `set -x`, `export -p`, `printf %q` and `repr()` print
 * whatever they are given so.
 */
function inShells(text: string): string[] {
  return [
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replace(/[\\']/g, "\\$&"),
    text.replace(/[\\"$`]/g, "\\$&"),
    text.replace(/[ !"$&'()*,;<>?[\\\]^`{|}]/g, "\\$&"),
  ];
}

/** As a part of a host's name, which is told in small letters wherever it was looked up. */
function asHost(text: string): string[] {
  return text.length >= MIN_HOST_CHARS && /^[\w.-]+$/.test(text) ? [text.toLowerCase()] : [];
}

function lowerHex(form: string): string {
  return form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** Base64 in both alphabets and hexadecimal in both cases. */
function encoded(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const base64 = inBase64(bytes);
  const hex = bytes.toHex();
  return [...base64, ...base64.map(urlAlphabet), hex, hex.toUpperCase()];
}

/** Base64 whose `+` and `/` are encoded again. */
function encodedInUrls(text: string): string[] {
  return inBase64(new TextEncoder().encode(text)).filter((form) => /[+/]/.test(form))
    .flatMap((form) => [encodeURIComponent(form), lowerHex(encodeURIComponent(form))]);
}

function urlAlphabet(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}

/** One for each place in which the value may begin in a group of three bytes, without shared ends. */
function inBase64(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((before) => {
    const whole = new Uint8Array(before + bytes.length);
    whole.set(bytes, before);
    return whole.toBase64().slice(Math.ceil(before * 8 / 6), Math.floor(whole.length * 8 / 6));
  });
}
