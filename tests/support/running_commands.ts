/**
 * What runs on this machine, as the kernel tells it.
 *
 * @module
 */

/** A process with its command line, joined by spaces. */
export interface RunningCommand {
  pid: number;
  line: string;
}

/** Every process that can be seen. Linux only. */
export function runningCommands(): RunningCommand[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = Deno.readTextFileSync(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim();
      return [{ pid: Number(name), line }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}
