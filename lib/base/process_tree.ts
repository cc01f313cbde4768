/**
 * A process with everything that it starts, from its start to its end.
 *
 * @module
 */

/** After a kill the pipes close at once; a process that the kernel holds up is not waited for longer. */
const GONE_TIMEOUT_MS = 2_000;

const SETSID = "/usr/bin/setsid";
let hasSetsid: boolean | undefined;

/**
 * Starts a program as the leader of a session and a group of its own: it can be killed as a whole, and a
 * terminal's signals don't reach it. Throws when it cannot be started.
 *
 * By `setsid` where there is one. Deno's `detached` forks this process, which holds up its thread, and longer
 * the more memory it has: 5 to 12 ms with 100 MB.
 */
export function spawnTree(
  argv: readonly string[],
  options: Omit<Deno.CommandOptions, "args" | "detached">,
): Deno.ChildProcess {
  hasSetsid ??= Deno.build.os === "linux" && isFile(SETSID);
  const [path, ...args] = hasSetsid ? [SETSID, ...argv] : argv;
  return new Deno.Command(path!, { ...options, args, detached: !hasSetsid }).spawn();
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Kills a child of {@linkcode spawnTree} with its whole group. */
export function killTree(child: Deno.ChildProcess): void {
  const leader = () => child.kill("SIGKILL");
  const group = Deno.build.os === "windows" ? leader : () => Deno.kill(-child.pid, "SIGKILL");
  // One that leads no group yet may do so, and start something, before its own kill.
  if (!killed(group) && killed(leader)) killed(group);
}

/** Whether there was something to kill; any other failure must not pass unseen. */
function killed(kill: () => void): boolean {
  try {
    kill();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof TypeError) return false;
    throw error;
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
