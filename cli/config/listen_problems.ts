/**
 * Whether the listeners of a configuration can open on this machine.
 *
 * @module
 */

import { access, constants } from "node:fs/promises";
import type { KeyPath } from "../../lib/base/key_path.ts";
import type { Problem } from "../../lib/config/problem.ts";
import type { Config } from "../../lib/config/schema.ts";
import { explainListen } from "../../lib/listen/explain_listen.ts";

/**
 * What keeps the listeners of a gateway from opening, whatever runs now: a port that is in use isn't
 * the configuration's fault. The start finds it when it opens them.
 */
export async function listenProblems({ api, channels: { websocket } }: Config): Promise<Problem[]> {
  const problems: Problem[] = [];
  const tell = (section: KeyPath, key: string, message: string) =>
    problems.push({ path: [...section, key], kind: "conflict", message });
  const tryAddress = (section: KeyPath, { host, port }: { host: string; port: number }) => {
    try {
      Deno.listen({ hostname: host, port }).close();
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) return;
      const setting = section.join(".");
      const { message, details } = explainListen(error, { host, port, setting });
      tell(section, details.param!.slice(setting.length + 1), message);
    }
  };
  if (api.enabled) tryAddress(["api"], api);
  const section = ["channels", "websocket"];
  if (!websocket.enabled) return problems;
  if (websocket.socketPath === "") tryAddress(section, websocket);
  else {
    const message = await socketProblem(websocket.socketPath);
    if (message !== undefined) tell(section, "socketPath", message);
  }
  return problems;
}

async function socketProblem(path: string): Promise<string | undefined> {
  const found = await Deno.lstat(path).catch(() => undefined);
  if (found !== undefined && !found.isSocket) {
    return `Cannot listen on "${path}": a file that is no socket is there`;
  }
  try {
    await access(path.replace(/\/[^/]*$/, "") || "/", constants.W_OK | constants.X_OK);
  } catch (error) {
    return `Cannot listen on "${path}": ${(error as Error).message}`;
  }
}
