/**
 * `service restore`: a home from a backup.
 *
 * @module
 */

import type { Restored } from "../../lib/backup/restore_home.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { SECRETS_KEY_VARIABLE } from "../../lib/state/secret_key.ts";
import { progressNotes, stopSignal } from "../backup/progress.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import type { Output } from "../output.ts";
import { formatSize } from "../format_size.ts";
import { plural } from "../plural.ts";

/** What the command reaches outside of itself. */
export interface RestoreDeps {
  paths: HomePaths;
  env: (name: string) => string | undefined;
  now: () => number;
}

/** Runs the command. */
export async function runRestore(
  { args: [archive], options, globals: { json }, out }: Invocation,
  { paths, env, now }: RestoreDeps,
): Promise<ExitCode> {
  using stop = stopSignal();
  const { signal } = stop;
  const onProgress = json ? undefined : progressNotes(out, "Checked");
  const dryRun = options["dry-run"] === true;
  try {
    if (options["verify"] === true) {
      return await verify(archive!, { signal, onProgress, json, out });
    }
    const { restoreHome } = await import("../../lib/backup/restore_home.ts");
    const force = options["force"] === true;
    const common = { archive: archive!, paths, force, dryRun, signal, onProgress, now };
    const restored = await restoreHome(common);
    if (json) out.json({ ...restored, dryRun });
    else if (dryRun) printPlan(restored, out);
    else printRestored(restored, { paths, env, out });
    return EXIT.done;
  } catch (error) {
    if (!signal.aborted) throw error;
    out.note("Stopped. Nothing was restored");
    return EXIT.interrupted;
  }
}

async function verify(
  archive: string,
  { json, out, ...options }: {
    signal: AbortSignal;
    onProgress?: (progress: { bytes: number; files: number }) => void;
    json: boolean;
    out: Output;
  },
): Promise<ExitCode> {
  const { openArchive, readArchive } = await import("../../lib/backup/read_archive.ts");
  using file = await openArchive(archive);
  const checked = await readArchive(file, options);
  if (json) out.json(checked);
  else out.line(`The backup is whole: ${describe(checked)}`);
  return EXIT.done;
}

function describe(
  { files, bytes, createdAt, version }: Pick<Restored, "files" | "bytes" | "createdAt" | "version">,
): string {
  const made = createdAt.replace(/\.\d+Z$/, "Z");
  return `${plural(files, "file")}, ${formatSize(bytes)}, made ${made} by service ${version}`;
}

function printPlan(restored: Restored, out: Output): void {
  const { home, oldHome } = restored;
  out.line(`Would restore to ${home}: ${describe(restored)}`);
  if (oldHome !== undefined) out.line(`Would move the old home to ${oldHome}`);
}

function printRestored(
  restored: Restored,
  { paths, env, out }: Pick<RestoreDeps, "paths" | "env"> & { out: Output },
): void {
  const { home, oldHome, settled, hasWorkspace, secretsKeyOutside, auditProblem } = restored;
  out.line(`Restored to ${home}: ${describe(restored)}`);
  if (oldHome !== undefined) out.line(`The old home is ${oldHome}`);
  for (const line of settledLines(settled)) out.note(line);
  out.note(
    "Tokens, grants and blocks are as they were then. Check: service tokens list, service grants list",
  );
  if (auditProblem !== undefined) out.note(`The audit log doesn't verify: ${auditProblem}`);
  if (secretsKeyOutside && !env(SECRETS_KEY_VARIABLE)) {
    out.note(`Set ${SECRETS_KEY_VARIABLE} as it was: the secrets are encrypted with it`);
  }
  if (paths.configFrom !== "home") {
    out.note(`The configuration is ${home}/config.json, but ${paths.configFrom} names another`);
  }
  if (hasWorkspace) out.note(`The workspace is ${home}/workspace. See: agent.workspace`);
}

/** What was under way in the backup, and isn't done again. */
function settledLines(settled: Restored["settled"]): string[] {
  if (settled === undefined) return [];
  const { turns, answers, messages, runs, slots } = settled;
  const lines = [
    [turns, "unfinished turn", "interrupted"],
    [answers, "undelivered answer", "not sent, kept in the conversation"],
    [messages, "outgoing message", "may have arrived since; decide with: service outbox list"],
    [runs, "unfinished automation run", "not repeated"],
    [slots, "automation slot", "came due since the backup, counted as missed"],
  ] as const;
  return lines.filter(([number]) => number > 0).map(([number, noun, what]) =>
    `${plural(number, noun)}: ${what}`
  );
}

const restore: Command = {
  args: "FILE",
  description:
    "Restores a home from a backup. The whole backup is checked before anything is written. The home " +
    "must be empty, and no service may run in it. Turns that ran during the backup don't continue, " +
    "and clients read their conversations from the beginning.",
  examples: [
    "service restore service-backup.tar.gz",
    "service restore service-backup.tar.gz --verify",
    "service restore service-backup.tar.gz --force",
  ],
  options: [
    { name: "force", alias: "f", summary: "Move a home that isn't empty aside, and print where" },
    { name: "verify", summary: "Check the backup only" },
    { name: "dry-run", summary: "Check the backup and the home, and change nothing" },
  ],
  async run(invocation) {
    const { homePaths } = await import("../home_paths.ts");
    return await runRestore(invocation, {
      paths: homePaths(invocation.globals),
      env: (name) => Deno.env.get(name),
      now: Date.now,
    });
  },
};

export default restore;
