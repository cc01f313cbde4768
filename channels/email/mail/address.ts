/**
 * Addresses of emails as this channel takes them: plain ASCII, so that two that look alike are alike.
 *
 * @module
 */

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** Characters of an address: with its thread it is the id of a chat, which has 256. */
const MAX_ADDRESS_CHARS = 239;

/** Whether a text is one address and nothing else: no name, no quotes, no comment, no other alphabet. */
export function isAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS_CHARS) return false;
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(at, 0));
  // What looks like an encoded word is one to some programs.
  return at > 0 && local.length <= 64 && LOCAL.test(local) && !local.includes("=?") &&
    text.slice(at + 1).split(".").every((label) => LABEL.test(label));
}

/** The part after the @, in small letters. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}
