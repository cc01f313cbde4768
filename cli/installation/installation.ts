/**
 * How this program got onto the machine, and what starts it again.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BUILT_FLAGS, LAUNCHER_FLAGS } from "../../lib/base/entries.ts";
import { IS_BUILT, ROOT } from "../../lib/base/layout.ts";
import { RELEASE_INFO_FILE } from "../upgrade/release_info.ts";
import { lockedFlags } from "../../lib/packages/locked_packages.ts";

/** The variable in which a released file says where it is, since Deno runs what it has unpacked. */
export const EXECUTABLE = "SERVICE_EXECUTABLE";

/** One of them. `file`: what was downloaded. */
export type Installation =
  | { kind: "source"; root: string }
  /** Made by `deno task build`. */
  | { kind: "built"; root: string }
  /** Extracted from a release's archive, as on Windows. */
  | { kind: "archive"; root: string }
  | { kind: "release"; file: string }
  /** A release that belongs to a package manager. */
  | { kind: "package"; file: string };

/** What {@linkcode findInstallation} looks at. */
export interface InstallationInputs {
  isStandalone: boolean;
  isBuilt: boolean;
  /** Whether a release's facts lie beside the program. */
  isReleased: boolean;
  execPath: string;
  env: (name: string) => string | undefined;
  realPath: (path: string) => string;
}

/** That of this process. */
export function findInstallation(
  { isStandalone, isBuilt, isReleased, execPath, env, realPath }: InstallationInputs = {
    isStandalone: Deno.build.standalone,
    isBuilt: IS_BUILT,
    isReleased: IS_BUILT && existsSync(new URL(RELEASE_INFO_FILE, ROOT)),
    execPath: Deno.execPath(),
    env: (name) => Deno.env.get(name),
    realPath: Deno.realPathSync,
  },
): Installation {
  const root = fileURLToPath(ROOT).replace(/(?<=.)\/$/, "");
  if (!isBuilt && !isStandalone) return { kind: "source", root };
  const executable = isStandalone ? execPath : env(EXECUTABLE);
  if (executable === undefined) return { kind: isReleased ? "archive" : "built", root };
  const file = realPath(executable);
  // The link of a package manager stays where it is when the version in it changes.
  return isPackaged(file) ? { kind: "package", file: executable } : { kind: "release", file };
}

/** /usr belongs to the package manager, /usr/local to the administrator (FHS 3.0); Homebrew has cellars. */
function isPackaged(file: string): boolean {
  return /^\/usr\/(?!local\/)/.test(file) || /\/Cellar\//.test(file);
}

/** The arguments that start this program, its absolute path first. */
export function programOf(installation: Installation): string[] {
  if ("file" in installation) return [installation.file];
  const flags = installation.kind === "source"
    ? [...LAUNCHER_FLAGS, "--cached-only", ...lockedFlags()]
    : [...BUILT_FLAGS, "--config", fileURLToPath(new URL("deno.json", ROOT))];
  return [Deno.execPath(), "run", ...flags, "-P=service", fileURLToPath(Deno.mainModule)];
}
