/**
 * Names that this page makes up.
 *
 * @module
 */

/** Random hex digits; `crypto.randomUUID` is not there where a page came over plain HTTP. */
export function randomHex(bytes: number): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(bytes)),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** An id for a new chat: whoever has it can join, so it is long. */
export function newChatId(): string {
  return randomHex(16);
}
