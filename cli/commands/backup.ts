/**
 * `service backup`: everything that the service knows, in one file.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { type HomePaths, isAbsolutePath } from "../../lib/config/paths.ts";
import { SECRETS_KEY_VARIABLE } from "../../lib/state/secret_key.ts";
import { progressNotes, stopSignal } from "../backup/progress.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { changeState } from "../operator/with_state.ts";
import { VERSION } from "../version.ts";
import { formatSize } from "../format_size.ts";
import { plural } from "../plural.ts";

/** What the command reaches outside of itself. */
export interface BackupDeps {
  paths: HomePaths;
  env: (name: string) => string | undefined;
  /** Where a relative FILE starts. */
  cwd: () => string;
  stdout: { writable: WritableStream<Uint8Array>; isTerminal(): boolean };
  now: () => number;
}

/** Runs the command. */
export async function runBackup(
  { args: [typed], options, globals: { json }, out }: Invocation,
  { paths, env, cwd, stdout, now }: BackupDeps,
): Promise<ExitCode> {
  const toStdout = typed === "-";
  if (toStdout && json) {
    throw new ServiceError("usage", "--json can't be used with -: standard output is the backup", {
      param: "json",
    });
  }
  if (toStdout && stdout.isTerminal()) {
    throw new ServiceError("usage", "Standard output is a terminal. Write the backup to a file");
  }
  const withWorkspace = options["workspace"] === true;
  const { backupToFile, backupToStream } = await import("../../lib/backup/create_backup.ts");
  using stop = stopSignal();
  const backup = {
    paths,
    version: VERSION,
    workspace: await findWorkspace({ paths, env }, withWorkspace),
    withWorkspace,
    secretsKeyOutside: (env(SECRETS_KEY_VARIABLE) ?? "").trim() !== "",
    signal: stop.signal,
    onProgress: json ? undefined : progressNotes(out, "Backed up"),
    now,
  };
  try {
    const file = toStdout ? undefined : await targetOf(typed, cwd(), now());
    const done = file === undefined
      ? { ...await backupToStream(stdout.writable, backup), size: undefined }
      : await backupToFile(file, { ...backup, replace: options["force"] === true });
    await changeState(
      { paths, env, now },
      out,
      (state) =>
        state.note("backup.written", { by: "cli", file: file ?? null, workspace: withWorkspace }),
    );
    if (json) {
      out.json({ file, ...done, workspace: withWorkspace });
      return EXIT.done;
    }
    const { files, bytes, size, skipped } = done;
    const what = `${plural(files, "file")}, ${formatSize(bytes)}`;
    if (file === undefined) out.note(`Backed up ${what}`);
    else out.line(`${file}  (${what}, ${formatSize(size!)} compressed)`);
    if (skipped > 0) out.note(`Left out ${plural(skipped, "link")} or device in the workspace`);
    out.note("The backup holds keys and tokens. Keep it as safe as the service itself");
    if (backup.secretsKeyOutside) {
      out.note(`Keep ${SECRETS_KEY_VARIABLE} too: the backup doesn't hold it`);
    }
    return EXIT.done;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    out.note("Stopped. No backup was written");
    return EXIT.interrupted;
  }
}

/** The folder that the agent works in. A configuration that can't be read is no reason not to back it up. */
async function findWorkspace(
  { paths, env }: Pick<BackupDeps, "paths" | "env">,
  isWanted: boolean,
): Promise<string> {
  const [{ examine }, { readConfig }] = await Promise.all([
    import("../../lib/settings/examine.ts"),
    import("../../lib/settings/load.ts"),
  ]);
  const read = async () => examine({ ...await readConfig({ paths }), paths, env }).config;
  const config = await read().catch((error) => {
    if (isWanted) throw error;
  });
  return config?.agent.workspace ?? paths.workspace;
}

/** An absolute path. In a folder the file is named after the time. */
async function targetOf(typed: string | undefined, cwd: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const name = `service-backup-${time}.tar.gz`;
  if (typed === undefined) return `${cwd}/${name}`;
  const path = isAbsolutePath(typed) ? typed : `${cwd}/${typed}`;
  const isFolder = await Deno.stat(path).then(({ isDirectory }) => isDirectory, () => false);
  return isFolder ? `${path.replace(/\/+$/, "")}/${name}` : path;
}

const backup: Command = {
  args: "[FILE]",
  description:
    "Writes all data of the service to one file: conversations, media, configuration, secrets, " +
    "tokens, grants, keys, automations, channels and the audit log. The service may keep running. " +
    "FILE is - for standard output, or a folder; without FILE the backup is in the " +
    "current folder. It holds the keys, so keep it as safe as the service itself.",
  examples: [
    "service backup",
    "service backup /mnt/backups/",
    "service backup - | age -r AGE_KEY > service.tar.gz.age",
  ],
  options: [
    { name: "workspace", summary: "Back up the agent's workspace too" },
    { name: "force", alias: "f", summary: "Replace FILE if it exists" },
  ],
  async run(invocation) {
    const { homePaths } = await import("../home_paths.ts");
    return await runBackup(invocation, {
      paths: homePaths(invocation.globals),
      env: (name) => Deno.env.get(name),
      cwd: Deno.cwd,
      stdout: Deno.stdout,
      now: Date.now,
    });
  },
};

export default backup;
