/**
 * The end of a process and of everything that it started.
 *
 * @module
 */

/** After a kill the pipes close at once; a process that the kernel holds up is not waited for longer. */
const GONE_TIMEOUT_MS = 2_000;

/** Kills a child that was started detached, with its whole group. */
export function killTree(child: Deno.ChildProcess): void {
  try {
    if (Deno.build.os === "windows") child.kill("SIGKILL");
    else Deno.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // It ended in this very moment; anything else must not pass unseen.
    if (!(error instanceof Deno.errors.NotFound || error instanceof TypeError)) throw error;
  }
}

/** Waits for what a kill brings about, but not for ever. */
export async function withinMoments(promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, GONE_TIMEOUT_MS));
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

/** The last of what a stream says, trimmed; never rejects. */
export async function readTail(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<string> {
  let tail = new Uint8Array();
  try {
    for await (const chunk of stream) {
      const joined = new Uint8Array(tail.length + chunk.length);
      joined.set(tail);
      joined.set(chunk, tail.length);
      tail = joined.slice(-maxBytes);
    }
  } catch {
    // What was read until then is what there is.
  }
  return new TextDecoder().decode(tail).trim();
}
