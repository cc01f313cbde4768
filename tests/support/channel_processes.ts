/**
 * The processes of channels and of the gateway on Linux, from outside: those in which their code runs,
 * whatever is around them.
 *
 * @module
 */

/** From source, and where it narrows itself. */
const IS_CHANNEL = /(\/lib\/channel_worker\/worker\.[jt]s\0|\0__child\0channel\0)/;

const IS_GATEWAY = /\/lib\/process\/service\/worker\.[jt]s\0/;

/** Numbers of the processes of channels below a process, in the order of their start. */
export function channelProcesses(above = Deno.pid): number[] {
  return processesBelow(above, IS_CHANNEL);
}

/** Numbers of the processes of gateways below a process. */
export function gatewayProcesses(above = Deno.pid): number[] {
  return processesBelow(above, IS_GATEWAY);
}

function processesBelow(above: number, isIt: RegExp): number[] {
  return processTree(above).filter((pid) =>
    readText(`/proc/${pid}/comm`).startsWith("deno") &&
    isIt.test(readText(`/proc/${pid}/cmdline`))
  );
}

/** Numbers of all processes below one, in the order of their start. */
export function processTree(above: number): number[] {
  const parents = new Map<number, number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    const parent = /^PPid:\s*(\d+)/m.exec(readText(`/proc/${name}/status`))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === above || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).sort((a, b) => a - b);
}

/** Empty for one that has just ended. */
function readText(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
