/**
 * One child of a session from spawn to end: what it says is read no faster than this thread can take,
 * and nothing of its tree is left afterwards.
 *
 * @module
 */

import type { ChildSession, ChildSessionHandlers } from "./child_session.ts";
import { encodeFrame, FrameReader } from "../rpc/frames.ts";
import { killTree, readTail, withinMoments } from "../base/process_tree.ts";
import { MAX_FRAME_BYTES } from "../rpc/protocol.ts";
import { SessionPeer } from "../rpc/session_peer.ts";
import { MAX_ERROR_CHARS, SESSION_VERSION, type SessionStart } from "../rpc/session_protocol.ts";

/** How a session is opened. */
export interface OpenSessionOptions {
  argv: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Given to the child at its start. */
  params: unknown;
  handlers: ChildSessionHandlers;
  /** Until it says that it is ready. */
  startTimeoutMs: number;
  /** Gives up the start; nothing once it is ready. */
  signal?: AbortSignal;
  /** Ends it whenever it aborts, with the reason's words. */
  closing: AbortSignal;
  /** Called once, when nothing is left of it and before anybody is told of its end. */
  onGone(): void;
  /** Told of an end that nobody asked for. */
  onFault(fault: { reason: string; stderr: string }): void;
}

/** What an end is called that the authority wanted. */
export const CLOSED = "it was closed";

export const MAX_STDERR_BYTES = 4_096;

const KILLED = 128 + 9;
/** Bytes that wait until the child reads them: two of the largest frames. */
const MAX_QUEUED_BYTES = 2 * (MAX_FRAME_BYTES + 4);

/** After so much of what a child says, this thread does other things for a moment; the pipe holds it up. */
const PAUSE_AFTER_BYTES = 1024 * 1024;
const PAUSE_AFTER_FRAMES = 200;
const PAUSE_MS = 20;

/**
 * Starts it. `session` resolves when the child is ready, and rejects with an Error that says why not,
 * once nothing is left of it, or with the signal's reason; `gone` resolves when its tree has ended, and
 * never rejects. Throws when it cannot be started, or when `params` are larger than a frame.
 */
export function openSession(
  options: OpenSessionOptions,
): { session: Promise<ChildSession>; gone: Promise<void> } {
  const begin: SessionStart = { v: SESSION_VERSION, params: options.params };
  const first = encodeFrame(begin);
  const [path, ...args] = options.argv;
  const child = new Deno.Command(path!, {
    args,
    clearEnv: true,
    env: { ...options.env },
    cwd: options.cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    // A group of its own, so that it can be killed as a whole.
    detached: true,
  }).spawn();

  let exited = false;
  const status = child.status.then((status) => {
    exited = true;
    return status;
  });
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  let isReady = false;
  /** Why it ends, once that is known; the first reason is the one. */
  let reason: string | undefined;

  const end = (why: string) => {
    reason ??= why;
    peer.end(reason);
    // A number that was given back may belong to somebody else by now.
    if (!exited) killTree(child);
  };

  const stdin = child.stdin.getWriter();
  let queuedBytes = 0;
  const write = (bytes: Uint8Array) => {
    queuedBytes += bytes.length;
    if (queuedBytes > MAX_QUEUED_BYTES) return end("it does not read what it is told");
    // Failing means that the child has gone, which its end tells better.
    stdin.write(bytes).catch(() => {}).finally(() => queuedBytes -= bytes.length);
  };
  const { onRequest, onNotice } = options.handlers;
  const peer = new SessionPeer({
    send: (frame) => write(encodeFrame(frame)),
    // Whoever asks is told at once; who waits, and how long, is not decided here.
    maxWaiting: 0,
    onRequest: onRequest && ((method, params, { signal }) => onRequest(method, params, signal)),
    onNotice,
  });

  function take(value: unknown): void {
    if (isReady) return peer.receive(value);
    const { type, message } = (value ?? {}) as { type?: unknown; message?: unknown };
    if (type === "ready") {
      isReady = true;
      ready.resolve();
    } else if (type === "unable" && typeof message === "string") {
      end(message.slice(0, MAX_ERROR_CHARS));
    } else {
      // It may ask while it starts.
      peer.receive(value);
    }
  }

  async function read(): Promise<void> {
    const frames = new FrameReader();
    const reader = child.stdout.getReader();
    let bytes = 0;
    let count = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        bytes += value.length;
        for (const frame of frames.push(value)) {
          if (reason !== undefined) break;
          take(frame);
          if (bytes <= PAUSE_AFTER_BYTES && ++count <= PAUSE_AFTER_FRAMES) continue;
          bytes = count = 0;
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
        if (reason !== undefined) return await reader.cancel();
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      end(`what it says cannot be understood: ${message}`);
      await reader.cancel().catch(() => {});
    }
  }

  const onClosing = () => {
    const { reason } = options.closing;
    end(reason instanceof Error ? reason.message : String(reason));
  };
  const onAbort = () => end(CLOSED);
  options.closing.addEventListener("abort", onClosing, { once: true });
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const late = () => end(`it was not ready within ${options.startTimeoutMs / 1_000} s`);
  const timer = setTimeout(late, options.startTimeoutMs);
  const started = () => {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  };
  ready.promise.then(started, started);

  const stderr = readTail(child.stderr, MAX_STDERR_BYTES);
  const reading = read();
  write(first);
  if (options.closing.aborted) onClosing();
  else if (options.signal?.aborted) onAbort();

  const ended = finish();
  async function finish(): Promise<string> {
    const { code, signal } = await status;
    // Whatever is left of its group; in a sandbox everything ends with it.
    killTree(child);
    await withinMoments(Promise.all([reading, stderr]));
    options.closing.removeEventListener("abort", onClosing);
    void stdin.close().catch(() => {});
    // Already there, but for a process that even a kill does not end.
    const said = await Promise.race([stderr, Promise.resolve("")]);
    const isFault = reason !== CLOSED && !options.closing.aborted;
    reason ??= describeEnd(code, signal, said, isReady);
    options.onGone();
    peer.end(reason);
    ready.reject(new Error(reason));
    if (isFault) options.onFault({ reason, stderr: said });
    return reason;
  }

  const close = async () => {
    end(CLOSED);
    await ended;
  };
  const session: ChildSession = {
    request: (method, params, asked) => peer.request(method, params, asked),
    ended,
    close,
  };
  const opened = ready.promise.then(() => session, (error) => {
    options.signal?.throwIfAborted();
    throw error;
  });
  opened.catch(() => {});
  return { session: opened, gone: ended.then(() => {}, () => {}) };
}

/** Why a process has ended, for people. */
export function describeEnd(
  code: number,
  signal: string | null,
  stderr: string,
  isReady: boolean,
): string {
  if (/out of memory|memory allocation of \d+ bytes failed|bad_alloc/i.test(stderr)) {
    return "its process ran out of memory";
  }
  // In a sandbox a signal arrives as the number that a shell gives it.
  const endedBy = signal ?? (code === KILLED ? "SIGKILL" : undefined);
  if (endedBy !== undefined) return `its process was ended by ${endedBy}`;
  // What keeps it from starting is ours; later it is whoever's the child works for.
  const said = isReady ? "" : stderr.split("\n").findLast(isWords)?.slice(0, MAX_ERROR_CHARS) ?? "";
  return `its process ended with code ${code}${said === "" ? "" : `: ${said}`}`;
}

/** Not where an error comes from. */
function isWords(line: string): boolean {
  return !/^\s+at /.test(line);
}
