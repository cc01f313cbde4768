/**
 * The signals that ask a process to stop, or, of SIGHUP without a terminal, to read its configuration again.
 *
 * @module
 */

/** One of them. A terminal that is closed sends SIGHUP, often twice: once itself, once its shell. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Calls back for each signal that comes. Not for a SIGHUP that `nohup` has had ignored. */
export function onStopSignals(
  signals: readonly StopSignal[],
  onSignal: (signal: StopSignal) => void,
): Disposable {
  const heard = signals.filter((signal) => signal !== "SIGHUP" || !ignoresHangUp());
  const listeners = heard.map((signal) => [signal, () => onSignal(signal)] as const);
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    },
  };
}

/** Whether this process belongs to a terminal, whose end it is told of by SIGHUP. */
export function hasTerminal(): boolean {
  try {
    // The seventh field, behind the name in brackets (proc_pid_stat(5)).
    const stat = Deno.readTextFileSync("/proc/self/stat");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4] !== "0";
  } catch {
    return [Deno.stdin, Deno.stdout, Deno.stderr].some((stream) => stream.isTerminal());
  }
}

/** Whether SIGHUP was ignored when this process was started, as far as the system tells. */
function ignoresHangUp(): boolean {
  if (Deno.build.os === "windows") return true;
  try {
    // SIGHUP is signal 1: the lowest bit of the mask (proc_pid_status(5)).
    const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(Deno.readTextFileSync("/proc/self/status"))!;
    return (parseInt(mask!.at(-1)!, 16) & 1) === 1;
  } catch {
    return false;
  }
}
