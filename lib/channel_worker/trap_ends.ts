/**
 * Lets a worker end in words: whatever would end its process becomes a reason that the service is told.
 *
 * A runtime that looks for a way around these finds one; its own permissions hold it then, and a worker
 * that ends without a word is noticed by its silence. docs/security.md says what is left.
 *
 * @module
 */

import process from "node:process";

/** What is replaced: the global scope. */
export interface WorkerScope {
  addEventListener(type: string, listener: (event: Event) => void): void;
  close(): void;
}

/** Sets the traps; `end` is called with why. `words` says what an error is. */
export function trapEnds(
  scope: WorkerScope,
  { end, words }: { end: (reason: string) => void; words: (error: unknown) => string },
): void {
  scope.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    end(`nobody handled a rejection: ${words((event as PromiseRejectionEvent).reason)}`);
  });
  scope.addEventListener("error", (event) => {
    event.preventDefault();
    const { error, message } = event as ErrorEvent;
    end(`it threw: ${error === null || error === undefined ? message : words(error)}`);
  });
  const refuse = (what: string): never => {
    throw new Error(`${what} is not for a channel`);
  };
  const exit = (code?: number | string | null): never => {
    end(`it called exit(${code ?? ""})`);
    throw new Error("The worker of this channel has ended");
  };
  Object.assign(Deno, {
    exit,
    chdir: () => refuse("Deno.chdir()"),
    addSignalListener: () => refuse("Deno.addSignalListener()"),
  });
  const own = process as unknown as Record<string, unknown>;
  own.exit = own.reallyExit = exit;
  own.abort = () => exit("abort");
  own.chdir = () => refuse("process.chdir()");
  // In Deno 2.9 this needs no permission where a process is its own target.
  own.kill = () => refuse("process.kill()");
  scope.close = () => end("it closed itself");
}
