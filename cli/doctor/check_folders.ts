/**
 * Whether the home is this user's alone and can be written, and the workspace is apart from it.
 *
 * @module
 */

import { access, constants } from "node:fs/promises";
import type { HomePaths } from "../../lib/config/paths.ts";
import { isInside } from "../../lib/base/inside.ts";
import { realPathOf } from "../../lib/base/real_path.ts";
import type { Finding } from "./check.ts";

/** Checks kind, owner and mode of the home, its folders, its keys and its configuration file. */
export async function checkHome(
  paths: HomePaths,
  uid: () => number | null = Deno.uid,
): Promise<Finding[]> {
  const { home, dataDir, auditDir, keysDir, operatorDir, runDir, socketDir, configFile } = paths;
  if (await stat(home) === undefined) {
    return [{ status: "ok", detail: `${home} will be created`, repair: () => makeFolder(home) }];
  }
  const folders = new Set([dataDir, auditDir, keysDir, operatorDir, runDir, socketDir]);
  const findings: Finding[] = [];
  const look = async (path: string, kind: "file" | "folder", follows: boolean, isKey = false) => {
    const info = follows ? await stat(path) : await stat(path, Deno.lstat);
    const finding = info && await judge(path, kind, info, { uid: uid(), isKey });
    if (finding !== undefined) findings.push(finding);
  };
  await look(home, "folder", true);
  // A link in the place of a folder of its own is refused by the start.
  for (const path of folders) await look(path, "folder", false);
  await look(configFile, "file", true);
  for (const path of await filesIn(keysDir)) await look(path, "file", true, true);
  return findings.length > 0 ? findings : [{ status: "ok", detail: home }];
}

async function judge(
  path: string,
  kind: "file" | "folder",
  info: Deno.FileInfo,
  { uid, isKey }: { uid: number | null; isKey: boolean },
): Promise<Finding | undefined> {
  if (kind === "file" ? !info.isFile : !info.isDirectory) {
    return {
      status: "fail",
      detail: `${path} is not a ${kind}`,
      fix: `Move it away: mv '${path}' '${path}.old'`,
    };
  }
  if (uid !== null && info.uid !== uid) {
    return {
      status: "fail",
      detail: `${path} belongs to user ${info.uid}, but you are user ${uid}`,
      fix: `Run as its owner, or: chown ${uid} '${path}'`,
    };
  }
  // Modes are those of Unix; what other users may do there is not in them.
  if (Deno.build.os === "windows") return undefined;
  const rights = kind === "file" ? constants.R_OK : constants.W_OK | constants.X_OK;
  const usual = kind === "file" ? 0o600 : 0o700;
  const fix = `chmod ${usual.toString(8)} '${path}'`;
  const repair = async () => {
    await Deno.chmod(path, usual);
    return `Set ${path} to mode ${usual.toString(8)}` +
      (isKey ? "; other users of this machine may have read it" : "");
  };
  if (!await access(path, rights).then(() => true, () => false)) {
    const action = kind === "file" ? "read" : "written";
    return { status: "fail", detail: `${path} can't be ${action}`, fix, repair };
  }
  if (info.mode === null || (info.mode & 0o077) === 0) return undefined;
  const mode = (info.mode & 0o777).toString(8);
  return {
    status: "warn",
    detail: `${path} has mode ${mode}, so other users can access it`,
    fix,
    repair,
  };
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    return entries.filter(({ isFile }) => isFile).map(({ name }) => `${folder}/${name}`).sort();
  } catch {
    // It isn't there, or can't be read, which is told of the folder itself.
    return [];
  }
}

async function makeFolder(path: string): Promise<string> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  return `Created ${path}`;
}

/** Checks that the workspace is a folder, and neither holds nor lies in what the agent must not touch. */
export async function checkWorkspace(workspace: string, paths: HomePaths): Promise<Finding> {
  const info = await stat(workspace);
  if (info !== undefined && !info.isDirectory) {
    return {
      status: "fail",
      detail: `${workspace} is not a folder`,
      fix: "Name a folder: service config set agent.workspace FOLDER",
    };
  }
  const real = realPathOf(workspace);
  const { configFile, dataDir, auditDir, keysDir, operatorDir, runDir } = paths;
  const own = [configFile, dataDir, auditDir, keysDir, operatorDir, runDir];
  for (const path of own.map(realPathOf)) {
    if (isInside(path, real) || isInside(real, path)) {
      return {
        status: "fail",
        detail: `${workspace} overlaps with ${path}, which the agent must not touch`,
        fix: "Name another folder: service config set agent.workspace FOLDER",
      };
    }
  }
  if (info !== undefined) {
    const isWritable = await access(workspace, constants.W_OK | constants.X_OK)
      .then(() => true, () => false);
    return isWritable ? { status: "ok", detail: workspace } : {
      status: "warn",
      detail: `${workspace} can't be written: the agent can only read there`,
      fix: `chmod u+rwx '${workspace}'`,
    };
  }
  const repair = () => makeFolder(workspace);
  return { status: "ok", detail: `${workspace} will be created`, repair };
}

async function stat(
  path: string,
  look: (path: string) => Promise<Deno.FileInfo> = Deno.stat,
): Promise<Deno.FileInfo | undefined> {
  try {
    return await look(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
