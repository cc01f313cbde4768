/**
 * Tells a stream of events from whatever else is answered at an address that is no model's, by how it
 * begins. The providers' packages leave out what they do not know, and would say only that an end is
 * missing.
 *
 * @module
 */

import type { BodyReader } from "./body_reader.ts";
import { messageOf, shownMessage } from "./provider_message.ts";

/** Bytes by which it is told, and of which the words of something else are read. */
const MAX_HEAD_BYTES = 4 * 1024;

/** A comment or a field (HTML standard, 9.2.5), as far as it can be told from its first characters. */
const BEGINS = /^(?:data|event|id|retry)?:/;
const LONGEST_BEGIN = "event:".length;

/** The answer, as before; or what it is instead. */
export type StreamHead = { events: BodyReader } | { isInstead: string; isEmpty: boolean };

/** Reads as much as it takes to tell. `secrets` are left out of what is told. */
export async function readStreamHead(
  reader: BodyReader,
  contentType: string,
  secrets: readonly string[],
): Promise<StreamHead> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const decoder = new TextDecoder();
  let head = "";
  let bytes = 0;
  let done = false;
  const read = async () => {
    const result = await reader.read();
    if (result.done) return void (done = true);
    chunks.push(result.value);
    bytes += result.value.length;
    head = `${head}${decoder.decode(result.value, { stream: true })}`.trimStart();
  };
  while (!done && head.length < LONGEST_BEGIN && bytes < MAX_HEAD_BYTES) await read();
  if (BEGINS.test(head) || (isEventStream(contentType) && /^[^<[{]/.test(head))) {
    return { events: { read: () => nextOf(chunks, reader), cancel: (why) => reader.cancel(why) } };
  }
  while (!done && bytes < MAX_HEAD_BYTES) await read();
  await reader.cancel();
  return { isInstead: whatItIs(head, secrets), isEmpty: head === "" };
}

function isEventStream(contentType: string): boolean {
  return contentType.toLowerCase().startsWith("text/event-stream");
}

async function nextOf(
  chunks: Uint8Array<ArrayBuffer>[],
  reader: BodyReader,
): ReturnType<BodyReader["read"]> {
  const value = chunks.shift();
  return value === undefined ? await reader.read() : { done: false, value };
}

function whatItIs(head: string, secrets: readonly string[]): string {
  if (head === "") return "an empty body";
  const isPage = head.startsWith("<");
  const kind = isPage ? "a web page" : /^[{[]/.test(head) ? "JSON" : "text";
  const words = isPage ? /<title[^>]*>([^<]*)/i.exec(head)?.[1] ?? "" : messageOf(head);
  const shown = shownMessage(words, secrets).slice(0, 200).toWellFormed();
  return shown === "" ? kind : `${kind} (${JSON.stringify(shown)})`;
}
