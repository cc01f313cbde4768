/**
 * Frames over a pair of byte streams: the pipes of a child process, or a socket.
 *
 * @module
 */

import { encodeFrame, FrameReader, joinBytes, MAX_FRAME_BYTES } from "./frames.ts";
import type { Frame, Transport } from "./transport.ts";

/** Both directions; a `Deno.Conn` is one. */
export interface ByteStreams {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
}

/** Bounds and habits; each has a default. */
export interface StreamLimits {
  /** Largest frame, bytes. Default {@linkcode MAX_FRAME_BYTES}. */
  maxFrameBytes?: number;
  /** Bytes that wait until the other end reads them; more ends the connection. Default: two frames. */
  maxQueuedBytes?: number;
  /** Bytes that are read from one call of this end to the next; more ends the connection. Default: no bound. */
  maxReadBytes?: number;
  /** Makes a pause of so many milliseconds after each megabyte or 200 frames. Default: none. */
  pauseMs?: number;
  /** Says why the stream has ended; nobody is told of the end before. Default: "it has ended". */
  tellEnd?: () => Promise<string>;
}

/** A pause lets this thread do other things; the pipe holds the other end up meanwhile. */
const PAUSE_AFTER_BYTES = 1024 * 1024;
const PAUSE_AFTER_FRAMES = 200;

/** How long the other end may take to read what was sent before {@linkcode Transport.close}. */
const LINGER_MS = 1_000;

/** Bytes that may wait to be written before progress does. */
const HIGH_WATER = 256 * 1024;

/** Carries frames over byte streams. */
export function streamTransport(
  { readable, writable }: ByteStreams,
  limits: StreamLimits = {},
): Transport {
  const { maxFrameBytes = MAX_FRAME_BYTES, maxQueuedBytes = 2 * maxFrameBytes } = limits;
  const { maxReadBytes = Infinity, pauseMs, tellEnd } = limits;
  const reader = readable.getReader();
  const writer = writable.getWriter();
  let isClosed = false;
  let queued: Uint8Array[] = [];
  let queuedBytes = 0;
  let writing: Promise<void> | undefined;
  let drained: PromiseWithResolvers<void> | undefined;
  let readBytes = 0;
  let tellClosed = (_reason: string) => {};
  writer.closed.catch(() => {});

  function ended(reason: string): void {
    if (isClosed) return;
    isClosed = true;
    tellClosed(reason);
  }

  async function read(take: (frame: unknown) => void): Promise<void> {
    const frames = new FrameReader(maxFrameBytes);
    let bytes = 0;
    let count = 0;
    for (;;) {
      // A connection that breaks is one that ends.
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return ended(await tellEnd?.() ?? "it has ended");
      readBytes += value.length;
      if (readBytes > maxReadBytes) return ended("it said too much");
      bytes += value.length;
      for (const frame of frames.push(value)) {
        if (isClosed) return;
        take(frame);
        if (pauseMs === undefined || bytes <= PAUSE_AFTER_BYTES && ++count <= PAUSE_AFTER_FRAMES) {
          continue;
        }
        bytes = count = 0;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  /** What is sent during a write goes out with the next one, as one. */
  async function write(): Promise<void> {
    while (queued.length > 0) {
      const bytes = queued.length === 1 ? queued[0]! : joinBytes(queued, queuedBytes);
      queued = [];
      // Failing means that the other end has gone, which the reader finds out.
      await writer.write(bytes).catch(() => {});
      queuedBytes -= bytes.length;
      if (queuedBytes >= HIGH_WATER) continue;
      drained?.resolve();
      drained = undefined;
    }
    writing = undefined;
  }

  return {
    open(take, closed) {
      tellClosed = closed;
      read(take).catch((error) => {
        const message = error instanceof Error ? error.message : String(error);
        ended(`what it says cannot be understood: ${message}`);
      });
    },
    send(frame: Frame) {
      if (frame.type === "call") readBytes = 0;
      for (const bytes of encodeFrame(frame, maxFrameBytes)) {
        queued.push(bytes);
        queuedBytes += bytes.length;
      }
      writing ??= write();
      if (queuedBytes > maxQueuedBytes) ended("it does not read what it is told");
    },
    drained() {
      if (isClosed || queuedBytes < HIGH_WATER) return;
      return (drained ??= Promise.withResolvers()).promise;
    },
    close() {
      isClosed = true;
      drained?.resolve();
      const end = () => {
        writer.close().catch(() => {});
        reader.cancel().catch(() => {});
      };
      if (writing === undefined) return end();
      // What was sent before still goes out; to cancel the reader of a socket closes all of it.
      const timer = setTimeout(end, LINGER_MS);
      void writing.then(() => (clearTimeout(timer), end()));
    },
  };
}
