/**
 * A connection over a WebSocket of `ws`.
 *
 * @module
 */

import type { Duplex } from "node:stream";
// @ts-types="@types/ws"
import type { WebSocket } from "ws";
import type { Clock } from "../../../lib/base/clock.ts";
import type { Peer } from "../../../lib/channel/socket_host.ts";
import type { Log } from "../../../lib/base/log.ts";
import { boundInflate } from "./bounded_inflate.ts";
import type { Connection, InMessage, MessageListener } from "./connection.ts";
import type { Heartbeat, Watched } from "./heartbeat.ts";
import type { InboundBytes } from "./inbound_bytes.ts";
import { Inbox, type InboxDeps } from "./inbox.ts";
import type { OutFrame } from "./out_frame.ts";
import { OutQueue, type Sink } from "./out_queue.ts";

/** Milliseconds for a client to answer a close. */
export const CLOSE_TIMEOUT_MS = 10_000;

/** Bytes of a close frame's reason (RFC 6455, 5.5.1). */
const MAX_REASON_BYTES = 123;

/** How a connection ended, where that is worth counting. */
export type Trouble = "slow_reader" | "dead_peer" | "protocol_error" | "overloaded" | "failed";

/** What all connections of a server share. */
export interface ConnectionDeps {
  clock: Clock;
  log: Log;
  heartbeat: Heartbeat;
  inbound: InboundBytes;
  maxMessageBytes: number;
  onTrouble(trouble: Trouble): void;
  onEnd(connection: WsConnection): void;
}

/** Where a connection came from. */
export interface Origin {
  peer: Peer;
  peerAddress: string;
  socket: Duplex;
}

/** What `ws` holds of a message that is not complete. It has no public name for it. */
interface Unfinished {
  _receiver?: { _bufferedBytes?: number; _messageLength?: number };
}

export class WsConnection implements Connection, Watched, Sink, InboxDeps {
  readonly peer: Peer;
  readonly peerAddress: string;
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #deps: ConnectionDeps;
  #hasEnded = false;
  /** Made when somebody asks for it. */
  #ended: AbortController | undefined;
  #onEnd: (() => void) | undefined;
  readonly #queue: OutQueue;
  readonly #inbox: Inbox;
  /** Says goodbye by itself, or waits to. */
  #isClosing = false;
  #cancelCut: (() => void) | undefined;
  #bytesRead = 0;
  readonly #compressedBytes: () => number;

  constructor(ws: WebSocket, { peer, peerAddress, socket }: Origin, deps: ConnectionDeps) {
    this.peer = peer;
    this.peerAddress = peerAddress;
    this.#ws = ws;
    this.#socket = socket;
    this.#deps = deps;
    this.#compressedBytes = boundInflate(ws, deps.maxMessageBytes);
    this.#queue = new OutQueue(this);
    this.#inbox = new Inbox(this);
    ws.on("message", (data: Uint8Array, isBinary) => this.#receive(data, isBinary));
    ws.on("pong", () => deps.heartbeat.alive(this));
    ws.on("error", (error: Error & { code?: string }) => this.#breakOff(error));
    ws.on("close", (code) => this.#end(code));
    // Before ws sees it. A listener for data that is added otherwise would begin the reading.
    socket.prependListener("data", (chunk: Uint8Array) => {
      this.#bytesRead += chunk.length;
      this.#hold(chunk.length);
    });
    deps.heartbeat.watch(this);
  }

  get closed(): AbortSignal {
    if (this.#ended === undefined) {
      this.#ended = new AbortController();
      if (this.#hasEnded) this.#ended.abort();
    }
    return this.#ended.signal;
  }

  /** Bytes and frames that wait to be sent, and bytes that came and are not done with. */
  get held(): { frames: number; bytes: number; inboundBytes: number } {
    return {
      frames: this.#queue.frames,
      bytes: this.#queue.bytes,
      inboundBytes: this.#unfinishedBytes() + this.#inbox.bytes,
    };
  }

  onMessage(listener: MessageListener): void {
    this.#inbox.listen(listener);
  }

  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  send(frame: OutFrame): void {
    if (this.#isClosing || this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#queue.push(frame)) return;
    this.#trouble("slow_reader", { frames: this.#queue.frames, bytes: this.#queue.bytes });
    this.#closeNow(1013, "Too slow: reconnect and resume");
  }

  whenDrained(): Promise<void> {
    return this.#queue.whenDrained();
  }

  close(code: number, reason: string): void {
    if (this.#isClosing || this.#hasEnded) return;
    this.#beginClose();
    if (this.#queue.isDrained) this.#sayClose(code, reason);
    else void this.#queue.whenDrained().then(() => this.#sayClose(code, reason));
  }

  /** Cuts it without a word. */
  terminate(): void {
    this.#ws.terminate();
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
    this.#hold(0);
  }

  isBusy(): boolean {
    const bytesRead = this.#bytesRead;
    this.#bytesRead = 0;
    return this.#inbox.isPaused || (bytesRead > 0 && this.#unfinishedBytes() > 0);
  }

  dead(): void {
    this.#trouble("dead_peer");
    this.terminate();
  }

  /**
   * Writes past `ws`, to which every connection would have to frame the same bytes anew. Its own frames
   * (ping, pong, close) are written whole, too, and it compresses nothing, so that they never mix.
   */
  write(wire: Uint8Array, done?: () => void): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#socket.write(wire, done);
    else this.#queue.end();
  }

  bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  pause(): void {
    this.#ws.pause();
  }

  resume(): void {
    this.#ws.resume();
  }

  fail(error: unknown): void {
    if (this.#hasEnded) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#deps.log.error("A message of a WebSocket client could not be worked on", {
      client_id: this.peer.clientId,
      reason,
    });
    this.#deps.onTrouble("failed");
    this.close(1011, "Internal error");
  }

  #receive(data: Uint8Array, isBinary: boolean): void {
    if (this.#isClosing) return;
    const message: InMessage = isBinary ? { binary: data } : { text: String(data) };
    this.#inbox.add(message, data.length);
    this.#hold(0);
  }

  /** Counts what is held, with bytes that come just now, and ends what is too much for all together. */
  #hold(comingBytes: number): void {
    if (this.#hasEnded || this.#isClosing) return;
    const bytes = comingBytes + this.#unfinishedBytes() + this.#inbox.bytes;
    if (this.#deps.inbound.set(this, bytes)) return;
    this.#trouble("overloaded", { bytes });
    this.#closeNow(1013, "Too much is being sent at the same time: try again later");
  }

  #unfinishedBytes(): number {
    const { _receiver } = this.#ws as Unfinished;
    return (_receiver?._bufferedBytes ?? 0) + (_receiver?._messageLength ?? 0) +
      this.#compressedBytes();
  }

  /** What came was no WebSocket, or too large: ws has said so to the client already. */
  #breakOff(error: Error & { code?: string }): void {
    this.#trouble("protocol_error", { code: error.code, reason: error.message });
    this.#beginClose();
    this.#queue.end();
    this.#deps.inbound.set(this, 0);
  }

  /** Leaves out what waits. */
  #closeNow(code: number, reason: string): void {
    this.#beginClose();
    this.#queue.end();
    this.#sayClose(code, reason);
  }

  #beginClose(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#deps.heartbeat.forget(this);
    this.#inbox.end();
    this.#cancelCut = this.#deps.clock.after(CLOSE_TIMEOUT_MS, () => this.terminate());
    // The client's own close frame comes after whatever it had sent before.
    this.#ws.resume();
  }

  #sayClose(code: number, reason: string): void {
    this.#ws.close(code, cutBytes(reason, MAX_REASON_BYTES));
  }

  #trouble(trouble: Trouble, fields: Record<string, unknown> = {}): void {
    this.#deps.onTrouble(trouble);
    this.#deps.log.info("A WebSocket connection is cut", {
      client_id: this.peer.clientId,
      peer: this.peerAddress,
      why: trouble,
      ...fields,
    });
  }

  #end(code: number): void {
    this.#isClosing = true;
    this.#cancelCut?.();
    this.#deps.heartbeat.forget(this);
    this.#deps.inbound.set(this, 0);
    this.#inbox.end();
    this.#queue.end();
    this.#socket.destroy();
    this.#deps.log.debug("A WebSocket connection ended", { client_id: this.peer.clientId, code });
    this.#deps.onEnd(this);
    this.#hasEnded = true;
    this.#ended?.abort();
    this.#onEnd?.();
  }
}

/** The beginning of a text, whole characters of at most so many bytes. */
function cutBytes(text: string, maxBytes: number): string {
  const bytes = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text, bytes);
  return text.slice(0, read);
}
