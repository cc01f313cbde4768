/**
 * Where the Deno that runs this program keeps the packages that it was started with.
 *
 * @module
 */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** What the place follows from. */
export interface DenoDirInputs {
  env: (name: string) => string | undefined;
  /** Folder that the program was started in. */
  cwd: string;
  /** The user's folder by the system, where no variable names it. */
  home: string | null;
  os: typeof Deno.build.os;
}

/** The folder, by the rules that Deno itself follows; undefined where nothing names one. */
export function findDenoDir({ env, cwd, home, os }: DenoDirInputs): string | undefined {
  const value = (name: string) => env(name) || undefined;
  const dir = value("DENO_DIR") ?? under(value("XDG_CACHE_HOME"), "deno") ?? systemDir();
  return dir === undefined || isAbsolute(dir) ? dir : join(cwd, dir);

  function systemDir(): string | undefined {
    switch (os) {
      case "windows":
        return under(value("LOCALAPPDATA"), "deno");
      case "darwin":
        return under(value("HOME") ?? home, "Library/Caches/deno");
      default:
        return under(value("HOME") ?? home, ".cache/deno");
    }
  }
}

function under(folder: string | null | undefined, name: string): string | undefined {
  return folder ? join(folder, name) : undefined;
}

/** The folder of the Deno that runs this process. */
export function findOwnDenoDir(env: DenoDirInputs["env"]): string | undefined {
  return findDenoDir({ env, cwd: Deno.cwd(), home: homedir(), os: Deno.build.os });
}
