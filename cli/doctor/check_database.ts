/**
 * Whether the journal's file can be read by this version, and is whole.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../../lib/journal/migrations/migrations.ts";
import { userVersion } from "../../lib/base/migrate.ts";
import type { Finding } from "./check.ts";

/**
 * Opens the file for reading only, so that it may be in use; changes nothing in it. `mark`: the file that
 * says that the home had one.
 */
export async function checkDatabase(path: string, mark?: string): Promise<Finding> {
  const info = await Deno.stat(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  const had = mark !== undefined && await Deno.stat(mark).then(() => true, () => false);
  if (had && (info === undefined || info.size === 0)) {
    return {
      status: "fail",
      detail: `${path} ${info === undefined ? "is missing" : "is empty"}, but this home had one`,
      fix: "Restore it from a backup, or start without it: service gateway --new-journal",
    };
  }
  if (info === undefined) return { status: "ok", detail: `${path} will be created` };
  if (info.size === 0) {
    return { status: "ok", detail: `${path} is empty; the next start sets it up` };
  }
  const newest = MIGRATIONS.at(-1)!.version;
  try {
    using db = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    const version = userVersion(db);
    if (version > newest) {
      return {
        status: "fail",
        detail: `${path} has schema version ${version}; this program knows up to ${newest}`,
        fix: "Use the version of this program that wrote it, or a newer one",
      };
    }
    const problems = db.prepare("PRAGMA quick_check(5)").all().map((row) => Object.values(row)[0]);
    if (problems.length !== 1 || problems[0] !== "ok") return damaged(path, problems.join("; "));
    const size = `${Math.ceil(info.size / 1024)} KiB`;
    const later = version < newest ? `, which the next start upgrades to ${newest}` : "";
    return { status: "ok", detail: `${path}, ${size}, version ${version}${later}` };
  } catch (error) {
    return damaged(path, error instanceof Error ? error.message : String(error));
  }
}

function damaged(path: string, reason: string): Finding {
  return {
    status: "fail",
    detail: `${path} cannot be read: ${reason}`,
    fix: `Stop the service and move it away: mv '${path}' '${path}.damaged' ` +
      "(then restore a backup, if you have one)",
  };
}
