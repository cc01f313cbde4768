/**
 * Who a mail says that it is from, where it says so in one way only.
 *
 * @module
 */

import { decodeWords } from "postal-mime";
import { isAddress } from "./address.ts";
import { type HeaderField, valuesOf } from "./header_fields.ts";

/** A sender, or why there is none. */
export type MailSender =
  /** `address` in small letters; `name` as it is to be shown. */
  | { address: string; name?: string }
  | { refused: string };

const MAX_NAME_CHARS = 100;

/**
 * Reads From strictly: one field, one address, outside of quotes, comments, groups and encoded words.
 * Programs differ in what they make of anything else, and a forger lives of that.
 */
export function mailSender(fields: readonly HeaderField[]): MailSender {
  const all = valuesOf(fields, "from");
  if (all.length !== 1) return { refused: `it has ${all.length} From fields` };
  const value = all[0]!;
  if (isAddress(value)) return { address: value.toLowerCase() };
  const open = value.lastIndexOf("<");
  const address = value.slice(open + 1, -1);
  if (open < 0 || !value.endsWith(">") || !isAddress(address)) {
    return { refused: "its From is not one plain address" };
  }
  const phrase = value.slice(0, open).trim();
  if (!isPhrase(phrase)) return { refused: "the name in its From could be taken for an address" };
  const name = shownName(phrase);
  return { address: address.toLowerCase(), ...name !== undefined && { name } };
}

/** Words and quoted texts, and nothing that separates addresses. */
function isPhrase(phrase: string): boolean {
  const bare = phrase.replace(/"(?:[^"\\]|\\.)*"/g, " ");
  return !/[",;:@<>()\\[\]]/.test(bare);
}

/** A name that is an address would be read as the sender, so it is left out. */
function shownName(phrase: string): string | undefined {
  const plain = phrase.replace(/"((?:[^"\\]|\\.)*)"/g, (_, inner: string) => {
    return inner.replace(/\\(.)/g, "$1");
  });
  let decoded: string;
  try {
    decoded = decodeWords(fromLatin1(plain));
  } catch {
    return undefined;
  }
  const name = decoded.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  if (name === "" || /[@\uff20\ufe6b<>]/.test(name)) return undefined;
  return name.slice(0, MAX_NAME_CHARS);
}

/** Fields are read byte by byte; names are in UTF-8 where they are not encoded. */
function fromLatin1(text: string): string {
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return new TextDecoder().decode(Uint8Array.from(text, (char) => char.charCodeAt(0)));
}
