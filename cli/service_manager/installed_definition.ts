/**
 * What `service install` wrote for a home, held against what it would write now: projects, the workspace
 * and settings change.
 *
 * @module
 */

import { isInside } from "../../lib/base/inside.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { findInstallation } from "../installation/installation.ts";
import { defineService } from "./define_service.ts";
import { MARK } from "./definition.ts";
import { type ServiceManager, serviceManager } from "./service_manager.ts";

/** A definition that is installed. */
export interface InstalledDefinition {
  file: string;
  text: string;
}

/** That of a home's service at login; undefined where there is none of ours. */
export async function installedDefinition(
  paths: HomePaths,
): Promise<InstalledDefinition | undefined> {
  const manager = findManager(paths);
  const text = manager && await Deno.readTextFile(manager.file).catch(() => undefined);
  if (!text?.includes(MARK)) return undefined;
  const [, home] = /SERVICE_HOME(?:=|<\/key>\s*<string>)([^"<\n]+)/.exec(text) ?? [];
  const isOfHome = (home ?? `${paths.userHome}/.service`) === paths.home;
  return isOfHome ? { file: manager!.file, text } : undefined;
}

/** Whether another one would be written now. Throws `config_invalid`. */
export async function isStale({ text }: InstalledDefinition, paths: HomePaths): Promise<boolean> {
  const { definition } = await defineService({
    scope: "user",
    installation: findInstallation(),
    env: (name) => Deno.env.get(name),
    paths,
  });
  return findManager(paths)!.define(definition) !== text;
}

/** Whether systemd keeps the service from writing to a folder. */
export function isReadOnly({ text }: InstalledDefinition, folder: string): boolean {
  const writable = [...text.matchAll(/^ReadWritePaths="?-(.*?)"?$/gm)].map(([, path]) => path!);
  return writable.length > 0 && !writable.some((path) => isInside(folder, path));
}

function findManager({ userHome }: HomePaths): ServiceManager | undefined {
  try {
    const env = (name: string) => Deno.env.get(name);
    return serviceManager({ scope: "user", os: Deno.build.os, uid: Deno.uid(), env, userHome });
  } catch {
    // No manager that is known, so nothing is installed.
    return undefined;
  }
}
