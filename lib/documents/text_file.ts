/**
 * Text files by their bytes: which encoding they are in, and whether they are text at all.
 *
 * @module
 */

/**
 * The text of a file, without its byte order mark; undefined for what is no text.
 *
 * UTF-8 is text unless it holds a NUL; UTF-16 wants its byte order mark. Whatever else holds no
 * control character is taken for windows-1252, of which Latin-1 is a part (as in the WHATWG Encoding
 * Standard): compressed and executable files hold some within their first bytes.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, 0xff, 0xfe)) return clean(decode("utf-16le", bytes));
  if (startsWith(bytes, 0xfe, 0xff)) return clean(decode("utf-16be", bytes));
  const utf8 = decode("utf-8", bytes);
  if (utf8 !== undefined) return utf8.includes("\0") ? undefined : utf8;
  return clean(decode("windows-1252", bytes));
}

function startsWith(bytes: Uint8Array, first: number, second: number): boolean {
  return bytes[0] === first && bytes[1] === second;
}

function decode(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined for a text with control characters other than white space. */
function clean(text: string | undefined): string | undefined {
  // deno-lint-ignore no-control-regex -- that is what is looked for
  return text === undefined || /[\0-\x08\x0b\x0e-\x1f\x7f-\x9f]/.test(text) ? undefined : text;
}
