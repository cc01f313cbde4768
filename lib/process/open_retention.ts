/**
 * Retention of a home: its data, kind by kind, and its limits.
 *
 * @module
 */

import { dirname } from "@std/path";
import { systemClock } from "../base/clock.ts";
import { rotatedFiles } from "../base/rotated_files.ts";
import { storedBackups } from "../backup/stored_backups.ts";
import type { GatewayPorts } from "../authority/gateway_ports.ts";
import { serviceLog } from "../config/paths.ts";
import type { Config } from "../config/schema.ts";
import type { Removable, RetentionStore } from "../contract/retention.ts";
import { Retention } from "../retention/retention.ts";
import type { HomeLog } from "./open_log.ts";
import type { Records } from "./open_records.ts";
import type { HomeOptions } from "./own_home.ts";

/** Opens it. `config` is the one in force, whose live keys follow the file. */
export function openRetention(
  { paths }: Pick<HomeOptions, "paths">,
  { config, audit, auditFiles, log, file, ports }:
    & Pick<Records, "audit" | "auditFiles">
    & Pick<HomeLog, "log" | "file">
    & { config: Config; ports: GatewayPorts },
): Retention {
  const { dataDir } = paths;
  return new Retention({
    settings: () => config.retention,
    stores: {
      sessions: ports.retentionStore("sessions"),
      media: ports.retentionStore("media"),
      audit: auditFiles,
      logs: logFiles(new Set([serviceLog(paths), ...file === undefined ? [] : [file]])),
      backups: storedBackups({ folder: () => config.retention.backups.folder, dataDir }),
    },
    audit,
    file: `${dataDir}/retention.json`,
    clock: systemClock,
    log,
  });
}

/** Files that logs were set aside into. `name` is a path. */
function logFiles(logs: ReadonlySet<string>): RetentionStore {
  const all = async () => {
    const found: Removable[] = [];
    for (const log of logs) {
      for (const { name, bytes, at } of await rotatedFiles(log)) {
        found.push({ name: `${dirname(log)}/${name}`, bytes, at });
      }
    }
    return found.sort((a, b) => a.at - b.at);
  };
  return {
    async usedBytes() {
      let sum = (await all()).reduce((sum, { bytes }) => sum + bytes, 0);
      for (const log of logs) sum += await Deno.stat(log).then(({ size }) => size, () => 0);
      return sum;
    },
    page: async () => ({ items: await all() }),
    async remove(items) {
      const removed: Removable[] = [];
      for (const item of items) {
        // A rotation since then has given it another name, and its own to another file.
        const there = await Deno.stat(item.name).catch(() => undefined);
        if (there?.mtime?.getTime() !== item.at) continue;
        await Deno.remove(item.name);
        removed.push(item);
      }
      return removed;
    },
  };
}
