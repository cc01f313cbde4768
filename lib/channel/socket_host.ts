/**
 * What a channel that serves connections itself is given by the service that it lives in.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/clock.ts";
import type { Chats, Sender } from "../contract/chats.ts";

/** Somebody who was let in at a handshake. */
export interface Peer extends Sender {
  /** As given and cut to 128 characters, or `anon-` and 12 characters. */
  clientId: string;
  workspaceKey?: string;
  /** Of the lasting token that it came in by, if it did. */
  tokenId?: string;
}

/** Decides about handshakes, after path and upgrade were found right. */
export interface SocketAdmission {
  /** Never rejects. `protocol` is to be selected, if any. */
  admit(request: IncomingMessage): Promise<
    | {
      peer: Peer;
      protocol?: string;
      /** Calls once when what let the peer in was taken back; returns how to stop. Absent: that cannot be. */
      onRevoked?: (leave: () => void) => () => void;
    }
    /** A short JSON body that never says which secret failed. */
    | { status: 401 | 403 | 404 | 429 | 503; body: string; headers: Record<string, string> }
  >;
  /** Whether a client may still be heard, by its id: allowFrom at the message level. */
  isAllowed(peer: Peer): boolean;
}

/** The port of a channel, with the service's own routes on it. */
export interface OpenPort {
  /** Such as `ws://127.0.0.1:8765/`. */
  readonly url: string;
  readonly port: number;
  /** Takes nothing new; lets requests end for so long before it cuts them. */
  close(graceMs?: number): Promise<void>;
}

/** Signs links to files that came or went with messages. */
export interface MediaLinks {
  /**
   * Path and query on this port, for a file of the media folder; undefined for any other path. `name`:
   * what the file is to be called where it is saved.
   */
  sign(path: string, name?: string): string | undefined;
}

export interface SocketHost {
  chats: Chats;
  admission: SocketAdmission;
  media: MediaLinks;
  /** Opens host and port (or socket) of the configuration; all that is no upgrade is answered there. */
  openPort(
    onUpgrade: (request: IncomingMessage, socket: Duplex, head: Uint8Array) => void,
  ): Promise<
    OpenPort
  >;
  /** Told when the default model is another one, or the list of models changed; returns how to stop. */
  onModelChange(listener: (model: { name: string; preset?: string }) => void): () => void;
  /** Takes secrets out of what a client is told. */
  scrub(text: string): string;
  clock: Clock;
  log: Log;
  /** Nobody guesses it, and it fits a chat_id: a UUID, say. */
  random: () => string;
}
