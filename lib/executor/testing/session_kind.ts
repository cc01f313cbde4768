/**
 * The two ends of `session_child.ts`.
 *
 * @module
 */

import { nothing } from "../../rpc/checks.ts";
import { call, type CallSpec, type Handlers, notice } from "../../rpc/endpoint.ts";

/** Calls that take and give anything. */
function calls<Name extends string>(
  ...names: Name[]
): Record<Name, CallSpec<unknown, unknown, string>> {
  return Object.fromEntries(names.map((name) => [name, call()])) as never;
}

/** Both ends. */
export const TRY_SESSION = {
  authority: {
    calls: calls("add", "wait", "sync", "async"),
    notices: { aborted: notice<string>(), flood: notice<number>() },
  },
  child: {
    calls: {
      start: call<{ begin?: string; [more: string]: unknown } | string, void>({ result: nothing }),
      ...calls("echo", "params", "fail", "progress", "hang", "deaf", "large"),
      ...calls("ask", "askMany", "askAborted", "flood", "sayFrame", "sayBytes"),
      ...calls("spin", "exit", "kill", "eat", "env", "readFile", "run"),
    },
    notices: {},
  },
};

type TryHandlers = Handlers<typeof TRY_SESSION.authority>;

/** Handlers of a test, which answer nothing else. */
export function tryHandlers(
  { calls, notices }: {
    calls?: Partial<TryHandlers["calls"]>;
    notices?: Partial<TryHandlers["notices"]>;
  } = {},
): TryHandlers {
  const refuse = () => {
    throw new Error("nothing is answered here");
  };
  return {
    calls: { add: refuse, wait: refuse, sync: refuse, async: refuse, ...calls },
    notices: { aborted: () => {}, flood: () => {}, ...notices },
  };
}
