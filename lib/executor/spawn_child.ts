/**
 * One child process with a peer on its pipes: what it says is read no faster than this thread can take,
 * and nothing of its tree is left afterwards.
 *
 * @module
 */

import { killTree, readTail, withinMoments } from "../base/process_tree.ts";
import { MAX_ERROR_CHARS, MAX_UNDER_WAY } from "../rpc/child_peer.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";
import { Peer, plainErrors } from "../rpc/peer.ts";
import { streamTransport } from "../rpc/stream_transport.ts";

/** How a child is started. */
export interface SpawnChildOptions<Authority extends Endpoint, Child extends Endpoint> {
  argv: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  authority: Authority;
  child: Child;
  handlers: Handlers<Authority>;
  maxErrorChars?: number;
  /** Bytes that it may say in all. Default: no bound. */
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
  gone: Promise<ChildEnd>;
}

/** How it ended. */
export interface ChildEnd {
  /** For people. */
  reason: string;
  /** The last of its standard error. */
  stderr: string;
}

/** What a call rejects with when the child ended under it. */
export class ChildEnded extends Error {}

/** The reason when it took more memory than it may have. */
export const OUT_OF_MEMORY = "its process ran out of memory";

const MAX_STDERR_BYTES = 4_096;
/** A flood fills its pipe meanwhile, and slows its child. */
const PAUSE_MS = 20;

/** Starts a child. Throws when it cannot be started. */
export function spawnChild<Authority extends Endpoint, Child extends Endpoint>(
  options: SpawnChildOptions<Authority, Child>,
): SpawnedChild<Authority, Child> {
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
  const stderr = readTail(child.stderr, MAX_STDERR_BYTES);
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
    // A number that was given back may belong to somebody else by now.
    if (!exited) killTree(child);
  }
  void peer.ended.then(({ reason }) => {
    drained.resolve();
    end(reason);
  });

  async function finish(): Promise<ChildEnd> {
    const { code, signal } = await status;
    // Whatever is left of its group; in a sandbox everything ends with it.
    killTree(child);
    await withinMoments(Promise.all([drained.promise, stderr]));
    // Already there, but for a process that even a kill does not end.
    const said = await Promise.race([stderr, Promise.resolve("")]);
    // V8's words at the end of its heap, and those of Rust and C++ when the data limit is reached.
    reason ??= /out of memory|memory allocation of \d+ bytes failed|bad_alloc/i.test(said)
      ? OUT_OF_MEMORY
      : signal !== null
      ? `its process was ended by ${signal}`
      : options.tellExit(code, said);
    options.onGone?.();
    peer.close(reason);
    return { reason, stderr: said };
  }
  const gone = finish();
  return { peer, end, gone };
}
