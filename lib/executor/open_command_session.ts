/**
 * Starts a child that lives on in the sandbox of commands, and ends it when what is held back from it
 * cannot be held any more.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import type { SessionEndpoint } from "./child_session.ts";
import type { CommandLimits } from "./command_limits.ts";
import { COMMAND_ENV } from "./command_sandbox.ts";
import { type CommandSessionJob, sessionCommand, sessionMounts } from "./command_session.ts";
import { closeInherited } from "./inherited.ts";
import { type OpeningSession, openSession } from "./open_session.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";
import type { HeldBack, SandboxRaiser } from "./raise_sandbox.ts";
import { watchNewGuards } from "./watch_new_guards.ts";
import { findGuards } from "./workspace_guards.ts";

/** What a session is opened with. */
export interface OpenCommandSession<Authority extends Endpoint, Child extends SessionEndpoint> {
  job: CommandSessionJob<Authority, Child>;
  handlers: Handlers<Authority>;
  /** Gives up the start. */
  signal?: AbortSignal;
  /** Ends every session. */
  closing: AbortSignal;
  limits: CommandLimits;
  /** See `OpenSessionOptions`. */
  onGone(): void;
  log: Log;
}

/** What the sandbox of a session is made with. */
export interface SessionSandbox {
  raiser: SandboxRaiser;
  /** Real path. */
  workspace: string;
  own: HeldBack;
  /** See `watchNewGuards`. */
  lookAgainMs?: number;
  /** What is said of a file that is held back and was replaced. */
  tellReplaced(path: string): string;
}

const EXEC = 'exec "$@"';

/** In the sandbox. Rejects with why it cannot be made; nothing was started then. */
export async function openConfined<Authority extends Endpoint, Child extends SessionEndpoint>(
  options: OpenCommandSession<Authority, Child>,
  { raiser, workspace, own, lookAgainMs, tellReplaced }: SessionSandbox,
): Promise<OpeningSession<Child>> {
  const { job, limits, signal } = options;
  const { path, args, env } = await sessionCommand(job);
  const variables = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  using stack = new DisposableStack();
  const sandbox = await raiser.raise({
    workspace,
    cwd: job.cwd,
    own,
    limits,
    signal,
    mounts: [...await sessionMounts(job, { workspace, hidden: own.ownPaths }), ...variables],
    env: job.env ?? {},
    networkSocket: job.networkSocket,
  });
  if ("problem" in sandbox) throw new Error(sandbox.problem);
  stack.use(sandbox.held);
  const unheld = new AbortController();
  const { ownPaths: hidden, sourcePaths: readOnly } = own;
  const { listings } = raiser;
  stack.use(watchNewGuards({
    known: sandbox.guards,
    look: (signal) => findGuards({ workspace, hidden, readOnly, listings, signal }),
    onFound: (reason) => unheld.abort(reason),
    everyMs: lookAgainMs,
  }));
  const { watch } = sandbox;
  const onReplaced = () =>
    void watch.finish().then((path) => unheld.abort(tellReplaced(path ?? workspace)));
  if (watch.signal.aborted) onReplaced();
  else watch.signal.addEventListener("abort", onReplaced, { once: true });
  let held: Disposable | undefined = undefined;
  const opened = openSession({
    ...common(options),
    argv: [
      ...sandbox.outside,
      ...["/bin/sh", "-c", sandbox.begin + EXEC, "sh"],
      ...sandbox.inside,
      ...[path, ...args],
    ],
    env: sandbox.env,
    cwd: "/",
    closing: AbortSignal.any([options.closing, unheld.signal]),
    onGone() {
      held?.[Symbol.dispose]();
      options.onGone();
    },
  });
  held = stack.move();
  return opened;
}

/** Without one, where the operator said so. */
export async function openBare<Authority extends Endpoint, Child extends SessionEndpoint>(
  options: OpenCommandSession<Authority, Child>,
  { limits, cacheDir }: {
    /** What the script begins with that starts it. */
    limits: string;
    cacheDir: string;
  },
): Promise<OpeningSession<Child>> {
  const { job, closing } = options;
  const { path, args, env } = await sessionCommand(job, cacheDir);
  return openSession({
    ...common(options),
    argv: [
      ...await closeInherited(),
      ...(limits === "" ? [] : ["/bin/sh", "-c", limits + EXEC, "sh"]),
      ...[path, ...args],
    ],
    env: { ...COMMAND_ENV, ...env, ...job.env },
    cwd: job.cwd,
    closing,
  });
}

function common<Authority extends Endpoint, Child extends SessionEndpoint>(
  { job, handlers, signal, onGone, log }: OpenCommandSession<Authority, Child>,
) {
  const { kind, params, startTimeoutMs } = job;
  return {
    kind,
    params,
    startTimeoutMs,
    handlers,
    signal,
    onGone,
    onFault: (fault: { reason: string; stderr: string }) =>
      log.warning("A program in the sandbox of commands ended", { session: job.name, ...fault }),
  };
}
