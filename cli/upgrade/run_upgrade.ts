/**
 * An upgrade and the way back, with the services that run the program.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { formatSize } from "../format_size.ts";
import { EXIT, type ExitCode, type Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import type { Output } from "../output.ts";
import { VERSION } from "../version.ts";
import { databaseVersion } from "./database_version.ts";
import { backupFolder, type Instance, instancesOf } from "./instances.ts";
import { removeUnpacked } from "./remove_unpacked.ts";
import type { ReleaseSource } from "./release_source.ts";
import type { ProgramFacts } from "./try_program.ts";
import { goBackToPrevious, installRelease, type Release } from "./upgrade.ts";

/** Installs a release, and restarts what runs the program. */
export async function runUpgrade(
  program: string,
  { source, release, signal }: { source: ReleaseSource; release: Release; signal: AbortSignal },
  globals: Globals,
  out: Output,
): Promise<ExitCode> {
  const { version } = release.file;
  const instances = await instancesOf(program, homePaths(globals));
  const progress = progressLine(version);
  const backups: string[] = [];
  try {
    await installRelease(source, release, {
      program,
      signal,
      onProgress: progress.show,
      async beforeReplace(next) {
        progress.end();
        for (const each of instances) {
          if (await needsBackup(each, next)) backups.push(await backUp(program, each));
        }
      },
    });
  } finally {
    progress.end();
  }
  for (const file of backups) out.note(`Backed up to ${file}`);
  out.note(`Upgraded ${program} to ${version}. To return: service upgrade --back`);
  const restarted = await restartAll(program, instances, out);
  await removeUnpacked(program);
  if (globals.json) out.json({ from: VERSION, to: version, upgraded: true, backups, restarted });
  return EXIT.done;
}

/** Returns to the previous version, and restarts what runs the program. */
export async function runGoBack(
  program: string,
  globals: Globals,
  out: Output,
): Promise<ExitCode> {
  const instances = await instancesOf(program, homePaths(globals));
  const facts = await goBackToPrevious(program);
  const { version } = facts;
  out.note(`Returned ${program} to ${version}`);
  const readable: Instance[] = [];
  for (const each of instances) {
    if (await canRead(each, facts)) readable.push(each);
    else {
      out.note(
        `service ${version} can't read the database in ${each.paths.home}: a newer version changed it. ` +
          `Restore the backup made before, from ${backupFolder(each.paths)}: ` +
          "service stop, then service restore FILE --force",
      );
    }
  }
  const restarted = await restartAll(program, readable, out);
  if (globals.json) out.json({ from: VERSION, to: version, restarted });
  return EXIT.done;
}

/** Whether the new program changes the database. */
async function needsBackup({ paths }: Instance, next: ProgramFacts): Promise<boolean> {
  const version = await databaseVersion(paths.database);
  return version !== undefined && version < next.databaseVersion;
}

/** Whether the program knows the database as it is. */
async function canRead({ paths }: Instance, program: ProgramFacts): Promise<boolean> {
  const version = await databaseVersion(paths.database);
  return version === undefined || version <= program.databaseVersion;
}

/** Has the program back up a home. The file; throws `conflict` with the reason where that fails. */
async function backUp(program: string, { paths, as }: Instance): Promise<string> {
  const folder = backupFolder(paths);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  if (as.uid !== undefined) await Deno.chown(folder, as.uid, as.gid!);
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: ["backup", folder, "--json"],
    stdin: "null",
    ...as,
  }).output();
  const decoder = new TextDecoder();
  if (success) return JSON.parse(decoder.decode(stdout)).file;
  const reason = decoder.decode(stderr).trim().split("\n")[0]!;
  const { error } = reason.startsWith("{") ? JSON.parse(reason) : { error: { message: reason } };
  throw new ServiceError(
    "conflict",
    `Can't back up ${paths.home} before the upgrade: ${error.message}. Nothing was changed`,
  );
}

/** Restarts those that run, with the program as it is now. Whether all of them were. */
async function restartAll(
  program: string,
  instances: readonly Instance[],
  out: Output,
): Promise<boolean> {
  let all = true;
  for (const { paths, isRunning, as, restart } of instances) {
    if (!isRunning) continue;
    const [command, ...args] = restart ?? [program, "restart"];
    const { success } = await new Deno.Command(command!, {
      args,
      stdin: "null",
      stdout: "null",
      ...restart === undefined ? as : {},
    }).spawn().status;
    if (success) out.note(`Restarted the service in ${paths.home}`);
    else out.note(`The service in ${paths.home} wasn't restarted, and runs the version before`);
    all &&= success;
  }
  if (Deno.uid() === 0) {
    out.note("Services of other users run the version before until they restart");
  }
  return all;
}

/** How far a download is: one line that is rewritten on a terminal, elsewhere one at its start. */
function progressLine(version: string) {
  const isTerminal = Deno.stderr.isTerminal();
  const write = (text: string) => void Deno.stderr.writeSync(new TextEncoder().encode(text));
  let percent = -1;
  return {
    show(bytes: number, total: number | undefined): void {
      const now = total === undefined ? Math.floor(bytes / 1e6) : Math.floor(bytes / total * 100);
      if (now === percent || (!isTerminal && percent >= 0)) return;
      percent = now;
      const of = total === undefined ? "" : ` of ${formatSize(total)}`;
      if (isTerminal) write(`\r\x1b[2KDownloading service ${version}: ${formatSize(bytes)}${of}`);
      else write(`Downloading service ${version}${of.replace(" of", ",")}\n`);
    },
    end(): void {
      if (isTerminal && percent >= 0) write("\r\x1b[2K");
      percent = -1;
    },
  };
}
