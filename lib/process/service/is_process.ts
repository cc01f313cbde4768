/** Whether the gateway runs in a process of its own, and not in a Worker. */
export const IS_PROCESS: boolean =
  typeof (globalThis as { postMessage?: unknown }).postMessage !== "function";
