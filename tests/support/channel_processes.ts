/**
 * The processes of channels on Linux, from outside: those in which code of a channel runs, whatever is
 * around them.
 *
 * @module
 */

/** From source, and where it narrows itself. */
const IS_CHANNEL = /(\/lib\/place\/worker\.[jt]s\0|\0__child\0channel\0)/;

/** Numbers of those below a process, in the order of their start. */
export function channelProcesses(above = Deno.pid): number[] {
  const parents = new Map<number, number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    const parent = /^PPid:\s*(\d+)/m.exec(readText(`/proc/${name}/status`))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === above || isBelow(parent));
  };
  return [...parents.keys()].filter((pid) =>
    isBelow(pid) && readText(`/proc/${pid}/comm`).startsWith("deno") &&
    IS_CHANNEL.test(readText(`/proc/${pid}/cmdline`))
  ).sort((a, b) => a - b);
}

/** Empty for one that has just ended. */
function readText(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
