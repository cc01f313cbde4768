/**
 * The services that run a program: what has to be backed up before it changes, and restarted afterwards.
 *
 * @module
 */

import { type HomePaths, resolvePaths } from "../../lib/config/paths.ts";
import { findOwner } from "../lifecycle/owner.ts";
import { MARK } from "../service_manager/definition.ts";
import { SYSTEM_STATE_DIR, UNIT } from "../service_manager/systemd_unit.ts";

/** One of them. */
export interface Instance {
  paths: HomePaths;
  /** Whether it runs now. */
  isRunning: boolean;
  /** Commands of the program run with this, so that they find its home. */
  as: Pick<Deno.CommandOptions, "uid" | "gid" | "env">;
  /** Restarts it; undefined: `service restart` does. */
  restart?: readonly string[];
}

/** That of the user's home and, for root, that of the system's unit. */
export async function instancesOf(program: string, paths: HomePaths): Promise<Instance[]> {
  const own: Instance = { paths, isRunning: await isRunning(paths), as: {} };
  const unit = `/etc/systemd/system/${UNIT}`;
  const text = Deno.uid() === 0 ? await Deno.readTextFile(unit).catch(() => "") : "";
  if (!text.includes(MARK) || !text.includes(`\nExecStart=${program} `)) return [own];
  const system = resolvePaths({ env: () => undefined, homeDir: SYSTEM_STATE_DIR });
  const info = await Deno.stat(SYSTEM_STATE_DIR).catch(() => undefined);
  if (info === undefined) return [own];
  return [own, {
    paths: system,
    isRunning: await isRunning(system),
    as: { uid: info.uid!, gid: info.gid!, env: { HOME: SYSTEM_STATE_DIR } },
    restart: ["systemctl", "try-restart", UNIT],
  }];
}

async function isRunning(paths: HomePaths): Promise<boolean> {
  const owner = await findOwner(paths);
  if (owner.state === "running" || owner.state === "command") owner.client.close();
  return owner.state !== "none" && owner.state !== "command";
}

/** Where backups before an upgrade go: beside the home, which they aren't part of. */
export function backupFolder({ home }: HomePaths): string {
  return `${home}-backups`;
}
