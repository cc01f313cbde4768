/**
 * Whether the home is this user's alone, and the workspace apart from it.
 *
 * @module
 */

import type { HomePaths } from "../../lib/config/paths.ts";
import { isInside } from "../../lib/base/inside.ts";
import { realPathOf } from "../../lib/base/real_path.ts";
import type { Finding } from "./check.ts";

/** Checks owner and mode of the home, its folders and its configuration file. */
export async function checkHome(
  paths: HomePaths,
  uid: () => number | null = Deno.uid,
): Promise<Finding[]> {
  const { home, dataDir, auditDir, keysDir, operatorDir, runDir, configFile } = paths;
  const info = await stat(home);
  if (info === undefined) return [{ status: "ok", detail: `${home} will be made` }];
  const findings: Finding[] = [];
  for (const path of [home, dataDir, auditDir, keysDir, operatorDir, runDir, configFile]) {
    const info = await stat(path);
    if (info === undefined) continue;
    const isFile = path === configFile;
    if (isFile !== info.isFile) {
      findings.push({
        status: "fail",
        detail: `${path} is not a ${isFile ? "file" : "folder"}`,
        fix: `Move it away: mv '${path}' '${path}.old'`,
      });
    } else if (Deno.build.os !== "windows" && info.uid !== uid()) {
      findings.push({
        status: "fail",
        detail: `${path} belongs to the user ${info.uid}, this is ${uid()}`,
        fix: `Run as its owner, or: chown ${uid()} '${path}'`,
      });
    } else if (info.mode !== null && (info.mode & 0o077) !== 0) {
      const mode = (info.mode & 0o777).toString(8);
      findings.push({
        status: "warn",
        detail: `${path} has the mode ${mode}: other users can get at it`,
        fix: `chmod ${isFile ? 600 : 700} '${path}'`,
      });
    }
  }
  return findings.length > 0 ? findings : [{ status: "ok", detail: home }];
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
        detail: `${workspace} and ${path}, which the agent must not touch, lie in one another`,
        fix: "Name another folder: service config set agent.workspace FOLDER",
      };
    }
  }
  return { status: "ok", detail: info === undefined ? `${workspace} will be made` : workspace };
}

async function stat(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
