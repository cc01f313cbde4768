/**
 * What a start trips over in a configuration that reads well: models that can't be asked, a workspace
 * that can't be made, certificates. Nothing is made or changed.
 *
 * @module
 */

import { access, constants } from "node:fs/promises";
import { toErrorData } from "../base/errors.ts";
import type { KeyPath } from "../base/key_path.ts";
import type { Problem } from "../config/problem.ts";
import type { Config } from "../config/schema.ts";
import { checkModelName, chooseModel } from "../model/choose_model.ts";

/** What every start, and that of a gateway, refuses to go on with. */
export async function startProblems(
  config: Config,
  { gateway }: { gateway: boolean },
): Promise<Problem[]> {
  const { websocket } = config.channels;
  const tls = gateway && websocket.enabled && websocket.sslCertfile !== "";
  return [
    ...modelProblems(config),
    ...await workspaceProblems(config.agent.workspace),
    ...tls ? await tlsProblems(websocket) : [],
  ];
}

function modelProblems(config: Config): Problem[] {
  const { preset, fallbacks } = config.agent;
  const main: KeyPath = preset === "" ? ["agent", "model"] : ["agent", "presets", preset, "model"];
  const checks: [KeyPath, () => void][] = [
    [main, () => chooseModel(config)],
    ...fallbacks.map((name, at): [KeyPath, () => void] => [
      ["agent", "fallbacks", at],
      () => checkModelName(config, name, `agent.fallbacks.${at}`),
    ]),
  ];
  return checks.flatMap(([path, check]) => {
    try {
      check();
      return [];
    } catch (error) {
      return [problemOf(error, path)];
    }
  });
}

/** A folder that is there, or can be made where its nearest parent is. */
async function workspaceProblems(workspace: string): Promise<Problem[]> {
  let path = workspace;
  const refuse = (reason: string): Problem[] => [{
    path: ["agent", "workspace"],
    kind: "conflict",
    message: `cannot make the folder "${workspace}": ${reason}`,
  }];
  for (;;) {
    try {
      const { isDirectory } = await Deno.stat(path);
      if (!isDirectory) return refuse(`"${path}" is a file`);
      if (path !== workspace) await access(path, constants.W_OK | constants.X_OK);
      return [];
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) return refuse((error as Error).message);
    }
    const dangling = await Deno.readLink(path).catch(() => undefined);
    if (dangling !== undefined) {
      return refuse(`"${path}" is a link to "${dangling}", which is missing`);
    }
    path = path.replace(/[/\\][^/\\]*$/, "") || "/";
  }
}

async function tlsProblems(
  { sslCertfile: cert, sslKeyfile: key }: Config["channels"]["websocket"],
): Promise<Problem[]> {
  const { readTlsIdentity } = await import("../listen/tls_identity.ts");
  const setting = "channels.websocket";
  try {
    await readTlsIdentity({ cert, key }, setting);
    return [];
  } catch (error) {
    return [problemOf(error, ["channels", "websocket", "sslCertfile"])];
  }
}

/** The error as a problem; its message names the key already, which a problem has beside it. */
function problemOf(error: unknown, usual: KeyPath): Problem {
  const { message, param } = toErrorData(error);
  const named = param !== undefined && message.startsWith(`${param}: `);
  return {
    path: param?.startsWith("channels.") ? param.split(".") : usual,
    kind: "conflict",
    message: named ? message.slice(param.length + 2) : message,
  };
}
