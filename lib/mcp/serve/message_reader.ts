/**
 * JSON-RPC messages from a stream of lines that anybody may have written: each is a message, or what is
 * wrong with it. No line is held beyond its bound.
 *
 * @module
 */

import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";

/** Bytes of a line. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Codes of JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;

/** A message, or why it is none; `id` where what came had one. */
export type ReadMessage =
  | { message: JSONRPCMessage }
  | { code: number; problem: string; id?: string | number };

/** Each line's message, until the stream ends. Never rejects. */
export async function* readMessages(
  readable: ReadableStream<Uint8Array>,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<ReadMessage> {
  const reader = readable.getReader();
  let pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      if (done || value === undefined) return;
      for (let from = 0; from < value.length;) {
        const end = value.indexOf(10, from);
        const piece = value.subarray(from, end === -1 ? value.length : end);
        size += piece.length;
        // The rest of a line that is too long is passed over.
        if (size > maxBytes) pieces = [];
        else if (piece.length > 0) pieces.push(end === -1 ? piece.slice() : piece);
        from += piece.length + 1;
        if (end === -1) break;
        const read = size > maxBytes ? tooLong(maxBytes) : readMessage(decode(pieces));
        pieces = [];
        size = 0;
        if (read !== undefined) yield read;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** What one text says; undefined for a blank one. */
function readMessage(text: string): ReadMessage | undefined {
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { code: PARSE_ERROR, problem: "The line is no JSON" };
  }
  return checkMessage(value);
}

/** What a value is as a message. */
export function checkMessage(value: unknown): ReadMessage {
  if (Array.isArray(value)) {
    return { code: INVALID_REQUEST, problem: "Batches are not taken; send one message at a time" };
  }
  const { id, jsonrpc } = (typeof value === "object" && value !== null ? value : {}) as {
    id?: unknown;
    jsonrpc?: unknown;
  };
  const known = typeof id === "string" || Number.isSafeInteger(id)
    ? { id: id as string | number }
    : {};
  if (jsonrpc !== "2.0") {
    return { code: INVALID_REQUEST, problem: 'The field jsonrpc must be "2.0"', ...known };
  }
  const { success, data } = JSONRPCMessageSchema.safeParse(value);
  if (success) return { message: data };
  return { code: INVALID_REQUEST, problem: "The message is none of JSON-RPC 2.0", ...known };
}

function tooLong(maxBytes: number): ReadMessage {
  return { code: INVALID_REQUEST, problem: `A line is over ${maxBytes} bytes` };
}

function decode(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}
