/**
 * Undoes the compression of a client's messages (permessage-deflate, RFC 7692) in place of `ws`, whose
 * stream of zlib ends the process in Deno 2.9 when a client sends bytes that are no deflate: it is reset
 * after it was closed.
 *
 * A message is undone as a whole, so that an idle connection keeps no window, and stops at the bound, so
 * that a bomb costs no more than a message.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import { constants, inflateRawSync } from "node:zlib";
// @ts-types="@types/ws"
import type { WebSocket } from "ws";

/** The end of each message that is left out on the wire (RFC 7692, 7.2.2). */
const TRAILER = Uint8Array.of(0, 0, 0xff, 0xff);

/** The place in `ws` where a frame is undone; public there, but not in its types. */
interface Negotiated {
  _extensions: {
    "permessage-deflate"?: {
      decompress(
        data: Uint8Array,
        isLast: boolean,
        done: (error: Error | null, data?: Uint8Array) => void,
      ): void;
    };
  };
}

/**
 * Takes over a connection that negotiated the extension without context takeover by its client. Too much
 * is answered with 1009, what is no deflate with 1007. Returns the bytes that wait for the rest
 * of their message.
 */
export function boundInflate(ws: WebSocket, maxBytes: number): () => number {
  const extension = (ws as unknown as Negotiated)._extensions["permessage-deflate"];
  return extension === undefined ? nothing : bound(ws, extension, maxBytes);
}

/** One for all: what is made in a function that uses it would be held by each connection. */
function nothing(): number {
  return 0;
}

function bound(
  ws: WebSocket,
  extension: NonNullable<Negotiated["_extensions"]["permessage-deflate"]>,
  maxBytes: number,
): () => number {
  let parts: Uint8Array[] = [];
  let heldBytes = 0;

  function inflate(): Uint8Array {
    const whole = Buffer.concat([...parts, TRAILER]);
    parts = [];
    heldBytes = 0;
    return inflateRawSync(whole, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: maxBytes,
    });
  }

  extension.decompress = (data, isLast, done) => {
    parts.push(data);
    heldBytes += data.length;
    // Never at once, which ws relies on; and others have their turn between two messages.
    setImmediate(() => {
      if (!isLast) return done(null, new Uint8Array());
      let message: Uint8Array;
      try {
        message = inflate();
      } catch (cause) {
        const isTooLarge = (cause as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
        ws.close(isTooLarge ? 1009 : 1007);
        return done(
          new Error(isTooLarge ? "A message is too large" : "A message is not deflated", { cause }),
        );
      }
      done(null, message);
    });
  };
  return () => heldBytes;
}
