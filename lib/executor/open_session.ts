/**
 * One child that lives on, from its start to its end.
 *
 * @module
 */

import type { ChildSession, SessionBegin, SessionEndpoint } from "./child_session.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";
import { tellLastWords } from "./spawn_process.ts";
import { spawnChild } from "./spawn_child.ts";

/** How a session is opened. */
export interface OpenSessionOptions<Authority extends Endpoint, Child extends SessionEndpoint>
  extends Pick<SessionBegin<Authority, Child>, "kind" | "params" | "startTimeoutMs"> {
  argv: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  handlers: Handlers<Authority>;
  /** Gives up the start; nothing once it is ready. */
  signal?: AbortSignal;
  /** Ends it whenever it aborts, with the reason's words. */
  closing: AbortSignal;
  /** Called once, when nothing is left of it and before anybody is told of its end. */
  onGone(): void;
  /** Told of an end that nobody asked for. */
  onFault(fault: { reason: string; stderr: string }): void;
}

/** A session that is being opened. */
export interface OpeningSession<Child extends Endpoint> {
  /**
   * Resolves when the child is ready. Rejects with an Error that says why not, once nothing is left of it,
   * or with the signal's reason.
   */
  session: Promise<ChildSession<Child>>;
  /** Resolves when its tree has ended; never rejects. */
  gone: Promise<unknown>;
}

/** What an end is called that the authority wanted. */
const CLOSED = "it was closed";
const START_TIMEOUT_MS = 20_000;

/** Starts it. Throws when it cannot be started. */
export function openSession<Authority extends Endpoint, Child extends SessionEndpoint>(
  options: OpenSessionOptions<Authority, Child>,
): OpeningSession<Child> {
  const { signal, closing, startTimeoutMs = START_TIMEOUT_MS } = options;
  let isReady = false;
  const { peer, end, gone } = spawnChild({
    ...options,
    ...options.kind,
    // What keeps it from starting is ours; later it is whoever's the child works for.
    tellExit: (code, stderr) => tellLastWords(code, isReady ? "" : stderr),
  });
  const endBy = (error: unknown) => end(error instanceof Error ? error.message : String(error));
  const onClosing = () => endBy(closing.reason);
  const onAbort = () => end(CLOSED);
  closing.addEventListener("abort", onClosing, { once: true });
  signal?.addEventListener("abort", onAbort, { once: true });

  const ended = gone.then(({ reason, stderr }) => {
    closing.removeEventListener("abort", onClosing);
    if (reason !== CLOSED && !closing.aborted) options.onFault({ reason, stderr });
    return reason;
  });

  async function start(): Promise<ChildSession<Child>> {
    const late = () => end(`it was not ready within ${startTimeoutMs / 1_000} s`);
    const timer = setTimeout(late, startTimeoutMs);
    if (closing.aborted) onClosing();
    else if (signal?.aborted) onAbort();
    try {
      await peer.call("start", options.params);
      isReady = true;
    } catch (error) {
      endBy(error);
      await ended;
      signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
    return {
      call: (...called) => peer.call(...called),
      ended,
      async close() {
        end(CLOSED);
        await ended;
      },
    };
  }
  const session = start();
  session.catch(() => {});
  return { session, gone: ended };
}
