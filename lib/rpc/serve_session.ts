/**
 * The child's side of a session: starts once with what it was given, then answers and asks until its
 * standard input ends, which means that the authority is gone.
 *
 * In the compiled binary it runs in a Worker of the child (see `child.ts`), which speaks the same
 * frames as messages.
 *
 * @module
 */

import { encodeFrame } from "./frames.ts";
import { READY, serveInput } from "./serve_child.ts";
import { type AskOptions, type PeerHandlers, SessionPeer } from "./session_peer.ts";
import {
  MAX_ERROR_CHARS,
  SESSION_VERSION,
  type SessionFrame,
  type SessionStart,
  type StartFrame,
} from "./session_protocol.ts";

/** The authority, as a child sees it. */
export interface SessionIo {
  /** What the child was started with; checked by nobody yet. */
  params: unknown;
  /** Asks the authority. At most 64 at once, the next 1,024 wait, and then it rejects. */
  request(method: string, params: unknown, options?: AskOptions): Promise<unknown>;
  /** Tells it something. Waits, with the whole child, while it has more to read than it takes. */
  notify(name: string, data: unknown): void;
}

/** Begins: what it answers is what the authority can ask. What it throws keeps the child from starting. */
export type SessionRun = (io: SessionIo) => PeerHandlers | Promise<PeerHandlers>;

/** Exit code of a session whose other side said what it never may. */
const EXIT_PROTOCOL = 4;
const EXIT_UNABLE = 1;
const MAX_WAITING = 1_024;

type Say = (frame: SessionFrame | StartFrame) => void;

interface WorkerScope {
  postMessage?: (message: unknown) => void;
  onmessage: ((event: { data: unknown }) => void) | null;
}

/** Serves a session over standard input and output, or over messages in a Worker. */
export function serveSession(run: SessionRun): void {
  const scope = globalThis as unknown as WorkerScope;
  if (typeof scope.postMessage === "function") {
    const take = taker(run, (frame) => scope.postMessage!(frame), (code) => {
      // The thread that owns the process ends it, and knows already of a start that failed.
      if (code === EXIT_PROTOCOL) throw new Error("what the authority said makes no sense");
    });
    scope.onmessage = ({ data }) => take(data);
    scope.postMessage(READY);
    return;
  }
  serveInput(taker(run, writeSessionFrame, (code) => Deno.exit(code)));
}

/** Writes a frame to standard output, whole. Waits while the pipe is full: that is the back-pressure. */
export function writeSessionFrame(frame: SessionFrame | StartFrame): void {
  const bytes = encodeFrame(frame);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

/** Takes the start, then everything else. */
function taker(run: SessionRun, say: Say, exit: (code: number) => void): (value: unknown) => void {
  let peer: SessionPeer | undefined;
  return (value) => {
    if (peer === undefined) {
      let handlers: PeerHandlers = {};
      const made = peer = new SessionPeer({
        send: say,
        maxWaiting: MAX_WAITING,
        onRequest: async (...asked) => {
          if (handlers.onRequest === undefined) throw new Error("nothing can be asked here");
          return await handlers.onRequest(...asked);
        },
      });
      void start(run, value, made, say).then((started) => {
        if (started === undefined) exit(EXIT_UNABLE);
        else handlers = started;
      });
      return;
    }
    try {
      peer.receive(value);
    } catch {
      exit(EXIT_PROTOCOL);
    }
  };
}

async function start(
  run: SessionRun,
  value: unknown,
  peer: SessionPeer,
  say: Say,
): Promise<PeerHandlers | undefined> {
  try {
    const { v, params } = value as SessionStart;
    if (v !== SESSION_VERSION) {
      throw new Error(`protocol version is ${v}, expected ${SESSION_VERSION}`);
    }
    const handlers = await run({
      params,
      request: (method, params, options) => peer.request(method, params, options),
      notify: (name, data) => peer.notify(name, data),
    });
    say({ type: "ready" });
    return handlers;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say({ type: "unable", message: message.slice(0, MAX_ERROR_CHARS) });
    return undefined;
  }
}
