import { cpuUsage } from "node:process";

/**
 * Processor time of this process so far, milliseconds: what a computation takes is the same on a machine that
 * does other things, which a clock on the wall would count.
 */
export function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}
