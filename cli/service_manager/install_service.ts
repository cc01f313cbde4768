/**
 * Has the service run at login or boot, and no longer.
 *
 * @module
 */

import { dirname } from "@std/path";
import { writeFileAtomic } from "../../lib/base/atomic_write.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { MARK } from "./definition.ts";
import type { ServiceManager } from "./service_manager.ts";

/** How a command ended. */
export interface Ended {
  success: boolean;
  stdout: string;
  stderr: string;
}

/** Runs one to its end. */
export type RunCommand = (command: readonly string[]) => Promise<Ended>;

/** The text of the definition that is there. Throws `conflict` for one that is somebody else's. */
export async function readDefinition({ file }: ServiceManager): Promise<string | undefined> {
  const info = await Deno.lstat(file).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw unusable(file, error);
  });
  if (info === undefined) return undefined;
  const text = info.isFile ? await Deno.readTextFile(file) : "";
  if (text.includes(MARK)) return text;
  throw new ServiceError(
    "conflict",
    `${file} exists and wasn't written by service install. Move it away first`,
  );
}

/** Throws `not_enabled`, with the manager's own words, where it can't be reached. */
export async function checkManager(
  { probe }: ServiceManager,
  run: RunCommand,
): Promise<void> {
  const { success, stderr } = await run(probe);
  if (success) return;
  throw new ServiceError(
    "not_enabled",
    `Can't reach the service manager (${probe.join(" ")}): ${firstLine(stderr)}. ` +
      "Log in as this user, not with su or sudo; or start without one: service start",
  );
}

/** Writes the definition and starts the service, anew where one of ours runs. */
export async function startInstalled(
  manager: ServiceManager,
  text: string,
  run: RunCommand,
): Promise<void> {
  const { file } = manager;
  const isThere = await readDefinition(manager) !== undefined;
  if (isThere) { for (const command of manager.stop) await run(command); }
  try {
    await Deno.mkdir(dirname(file), { recursive: true });
    await writeFileAtomic(file, text, { mode: 0o644 });
  } catch (error) {
    throw unusable(file, error);
  }
  await runAll(manager.start, run);
}

/** Stops the service and removes its definition. Whether there was one. */
export async function uninstallService(
  manager: ServiceManager,
  run: RunCommand,
): Promise<boolean> {
  if (await readDefinition(manager) === undefined) return false;
  // One that is stopped already, or a manager that isn't there, is no reason to leave the file.
  for (const command of manager.stop) await run(command);
  await Deno.remove(manager.file).catch((error) => {
    throw unusable(manager.file, error);
  });
  for (const command of manager.forget) await run(command);
  return true;
}

/** Runs commands in order. Throws `internal` for the first that fails. */
export async function runAll(
  commands: readonly (readonly string[])[],
  run: RunCommand,
): Promise<void> {
  for (const command of commands) {
    const { success, stderr } = await run(command);
    if (success) continue;
    throw new ServiceError("conflict", `${command.join(" ")} failed: ${firstLine(stderr)}`);
  }
}

/** Runs a command of this machine. */
export async function runCommand([program, ...args]: readonly string[]): Promise<Ended> {
  try {
    const ended = await new Deno.Command(program!, { args, stdin: "null" }).output();
    const decoder = new TextDecoder();
    return {
      success: ended.success,
      stdout: decoder.decode(ended.stdout),
      stderr: decoder.decode(ended.stderr),
    };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { success: false, stdout: "", stderr: `${program} isn't installed` };
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0]!.replace(/\.$/, "") || "it gave no reason";
}

function unusable(file: string, error: unknown): ServiceError {
  const reason = (error as Error).message.replace(/: (?:open|mkdir|lstat|remove|rename) .*/, "");
  const asRoot = error instanceof Deno.errors.PermissionDenied && file.startsWith("/etc/");
  return new ServiceError(
    "invalid_request",
    `Can't change ${file}: ${reason}.${asRoot ? " Run this as root" : ""}`,
    {},
    { cause: error },
  );
}
