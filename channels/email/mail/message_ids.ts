/**
 * Ids of mails. Those that this channel gives say by themselves that they are its own and which thread
 * they belong to, so that an answer finds its thread also where all that it refers to is our mail.
 *
 * @module
 */

import { domainOf } from "./address.ts";

/** Characters of an id, so that one can be the id of a message of a channel. */
const MAX_ID_CHARS = 250;

/** Ids of one field that are looked at. */
const MAX_IDS = 200;

const OWN = /^<agent\.([0-9a-f]{32})\.([0-9a-f]{16})@[^<>@\s]+>$/;

/** The ids in a field, each once, angle brackets included. */
export function messageIdsIn(value: string): string[] {
  const ids =
    value.slice(0, 64 * 1024).match(/<[\x21-\x3b\x3d\x3f\x41-\x7e]+@[\x21-\x3b\x3d\x3f-\x7e]+>/g) ??
      [];
  return [...new Set(ids.filter((id) => id.length <= MAX_ID_CHARS))].slice(0, MAX_IDS);
}

/** Whether it is one of {@linkcode ownMessageId}. */
export function isOwnMessageId(id: string): boolean {
  return OWN.test(id);
}

/** The thread that an id of this channel's names. */
export function threadOfOwn(id: string): string | undefined {
  return OWN.exec(id)?.[2];
}

/**
 * The id of a mail that goes out: always the same for one message of one account (`OutboundMessage.id`),
 * so that a repeat can be told.
 */
export async function ownMessageId(
  { runtimeName, id, thread, address }: {
    runtimeName: string;
    id: string;
    thread: string;
    address: string;
  },
): Promise<string> {
  return `<agent.${await digest(`${runtimeName}\0${id}`, 32)}.${thread}@${domainOf(address)}>`;
}

/** The key of a thread: of the id of its first mail. */
export function threadKey(root: string): Promise<string> {
  return digest(root, 16);
}

/** The first hex digits of a SHA-256. */
async function digest(text: string, digits: number): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(bytes).toHex().slice(0, digits);
}
