/**
 * Where a service that stays runs: in the background, in a terminal, or under a service manager. Decides
 * where its log is and who can start it again.
 *
 * @module
 */

import type { ServiceRecord } from "./record.ts";

/** What has started a service, and the file that its log goes to, where that is one. */
export type Keeper =
  & { log?: string }
  & (
    | { kind: "background" }
    | { kind: "systemd"; unit: string; isUser: boolean }
    | { kind: "launchd"; label: string }
    | { kind: "foreground"; terminal?: string }
  );

/** Tells it, as far as the system does. */
export async function keeperOf(
  pid: number | undefined,
  record: ServiceRecord | undefined,
): Promise<Keeper> {
  if (record?.log !== undefined) {
    const { launchdLabel: label } = record;
    const log = record.logFile ?? record.log;
    return label === undefined ? { kind: "background", log } : { kind: "launchd", label, log };
  }
  const keeper = await keeperOutside(pid);
  return { ...keeper, log: record?.logFile ?? keeper.log };
}

/** Tells it of one that isn't in the background. */
async function keeperOutside(pid: number | undefined): Promise<Keeper> {
  if (pid === undefined || Deno.build.os !== "linux") return { kind: "foreground" };
  const { target, group, isInvoked } = await factsOf(pid);
  if (/^\/dev\/(pts\/|tty)/.test(target)) return { kind: "foreground", terminal: target };
  const info = target.startsWith("/") ? await Deno.stat(target).catch(() => undefined) : undefined;
  if (info?.isFile) return { kind: "foreground", log: target };
  const unit = /\/([^/\n]+\.service)$/m.exec(group)?.[1];
  return unit !== undefined && isInvoked
    ? { kind: "systemd", unit, isUser: group.includes("/user@") }
    : { kind: "foreground" };
}

/** Where its standard error goes, its control group, and whether systemd has started what it is part of. */
async function factsOf(pid: number) {
  // Deno itself reads nothing of other processes.
  const script =
    'cd "/proc/$1" && readlink fd/2; tr "\\0" "\\n" <environ | grep "^INVOCATION_ID=";' +
    " cat cgroup";
  const { stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", script, "sh", String(pid)],
    stderr: "null",
  }).output();
  const [target = "", ...lines] = new TextDecoder().decode(stdout).split("\n");
  return {
    target,
    group: lines.join("\n"),
    isInvoked: lines.some((line) => line.startsWith("INVOCATION_ID=")),
  };
}

/** Where the log of one is, in words. */
export function logPlace(keeper: Keeper): string {
  if (keeper.log !== undefined) return keeper.log;
  if (keeper.kind === "systemd") {
    return `journalctl ${keeper.isUser ? "--user-unit" : "-u"} ${keeper.unit}`;
  }
  const terminal = keeper.kind === "foreground" ? keeper.terminal : undefined;
  return terminal === undefined
    ? "standard error of the program that started it"
    : `terminal ${terminal}`;
}

/**
 * The command with which its service manager starts it once it has stopped; undefined where there is none,
 * or only root may.
 */
export function startCommand(keeper: Keeper, uid = Deno.uid()): string[] | undefined {
  if (keeper.kind === "systemd" && (keeper.isUser || uid === 0)) {
    return ["systemctl", ...keeper.isUser ? ["--user"] : [], "start", keeper.unit];
  }
  if (keeper.kind === "launchd") return ["launchctl", "kickstart", `gui/${uid}/${keeper.label}`];
}
