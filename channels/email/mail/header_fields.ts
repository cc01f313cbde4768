/**
 * The header of a mail as it is written: every field in its order, none merged, so that a second one
 * cannot hide behind the first.
 *
 * @module
 */

/** A field. */
export interface HeaderField {
  /** In small letters. */
  name: string;
  /** Unfolded, blanks around it taken away; words in other alphabets as they are encoded. */
  value: string;
}

/** Bytes of a header that are looked at. */
export const MAX_HEADER_BYTES = 256 * 1024;

/** Fields of one header. */
const MAX_FIELDS = 2_000;

/** What is wrong with a header that nobody's program should write. */
export class MalformedHeader extends Error {
  override readonly name = "MalformedHeader";
}

/**
 * The fields up to the first empty line. Throws {@linkcode MalformedHeader} where programs would disagree
 * on what it says: what one takes for the end, another takes for a field.
 */
export function headerFields(source: Uint8Array): HeaderField[] {
  // Each byte a character: nothing but ASCII is compared.
  const text = new TextDecoder("latin1").decode(source.subarray(0, MAX_HEADER_BYTES));
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null && source.length >= MAX_HEADER_BYTES) {
    throw new MalformedHeader(`its header has more than ${MAX_HEADER_BYTES} bytes`);
  }
  const lines = (end === null ? text : text.slice(0, end.index)).split(/\r?\n/);
  const fields: HeaderField[] = [];
  for (const line of lines) {
    if (line === "") continue;
    // deno-lint-ignore no-control-regex
    if (/[\x00\r]/.test(line)) {
      throw new MalformedHeader("a field of its header holds a control character");
    }
    if (/^[ \t]/.test(line)) {
      const last = fields.at(-1);
      if (last === undefined) throw new MalformedHeader("its header begins with a blank");
      last.value = `${last.value} ${line.trim()}`.trim();
      continue;
    }
    const match = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:(.*)$/.exec(line);
    if (match === null) throw new MalformedHeader("a line of its header is no field");
    if (fields.length === MAX_FIELDS) {
      throw new MalformedHeader(`its header has more than ${MAX_FIELDS} fields`);
    }
    fields.push({ name: match[1]!.toLowerCase(), value: match[2]!.trim() });
  }
  return fields;
}

/** Values of the fields of a name, in their order. */
export function valuesOf(fields: readonly HeaderField[], name: string): string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value);
}
