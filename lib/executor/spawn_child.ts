/**
 * One child process with a peer on its pipes: what it says is read no faster than this thread can take,
 * and nothing of its tree is left afterwards.
 *
 * @module
 */

import { MAX_ERROR_CHARS, MAX_UNDER_WAY } from "../rpc/child_peer.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";
import { Peer, plainErrors } from "../rpc/peer.ts";
import { streamTransport } from "../rpc/stream_transport.ts";
import { endOf, type ProcessEnd, type SpawnOptions, spawnProcess } from "./spawn_process.ts";

/** How a child is started. */
export interface SpawnChildOptions<Authority extends Endpoint, Child extends Endpoint>
  extends SpawnOptions {
  authority: Authority;
  child: Child;
  handlers: Handlers<Authority>;
  maxErrorChars?: number;
  /** Bytes that it may say from one call to the next. Default: no bound. */
  maxReadBytes?: number;
  /** Says of a child that has exited by itself what that means. */
  tellExit(code: number, stderr: string): string;
  /** Called once, when nothing is left of it and before a call rejects for that. */
  onGone?(): void;
}

/** A child that was started. */
export interface SpawnedChild<Authority extends Endpoint, Child extends Endpoint> {
  peer: Peer<Authority, Child>;
  /** Kills it with its tree; of several reasons the first one counts. */
  end(reason: string): void;
  /** Resolves when nothing is left of its tree; never rejects. */
  gone: Promise<ProcessEnd>;
}

/** What a call rejects with when the child ended under it. */
export class ChildEnded extends Error {}

/** A flood fills its pipe meanwhile, and slows its child. */
const PAUSE_MS = 20;

/** Starts a child. Throws when it cannot be started. */
export function spawnChild<Authority extends Endpoint, Child extends Endpoint>(
  options: SpawnChildOptions<Authority, Child>,
): SpawnedChild<Authority, Child> {
  const child = spawnProcess(options);
  const drained = Promise.withResolvers<void>();
  let reason: string | undefined;

  const peer = new Peer({
    transport: streamTransport({ readable: child.stdout, writable: child.stdin }, {
      pauseMs: PAUSE_MS,
      maxReadBytes: options.maxReadBytes,
      tellEnd: () => {
        drained.resolve();
        return gone.then(({ reason }) => reason);
      },
    }),
    mine: options.authority,
    theirs: options.child,
    handlers: options.handlers,
    errors: {
      ...plainErrors(options.maxErrorChars ?? MAX_ERROR_CHARS),
      lost: (reason) => new ChildEnded(reason),
    },
    maxCalls: MAX_UNDER_WAY,
    maxAnswering: MAX_UNDER_WAY,
  });

  function end(why: string): void {
    reason ??= peer.over ?? why;
    peer.close(reason);
    child.kill();
  }
  void peer.ended.then(({ reason }) => {
    drained.resolve();
    end(reason);
  });

  async function finish(): Promise<ProcessEnd> {
    const end = await endOf(child, options.tellExit, drained.promise);
    reason ??= end.reason;
    options.onGone?.();
    peer.close(reason);
    return { reason, stderr: end.stderr };
  }
  const gone = finish();
  return { peer, end, gone };
}
