/**
 * Where the Deno that runs this program keeps the packages that it was started with.
 *
 * @module
 */

/** What the place follows from. */
export interface DenoDirInputs {
  env: (name: string) => string | undefined;
  /** Folder that the program was started in. */
  cwd: string;
  /** The user's folder by the system, asked for where no variable names it. */
  home: () => string | null;
  os: typeof Deno.build.os;
}

/** The folder, by the rules that Deno itself follows; undefined where nothing names one. */
export function findDenoDir({ env, cwd, home, os }: DenoDirInputs): string | undefined {
  const value = (name: string) => env(name) || undefined;
  const dir = value("DENO_DIR") ?? under(value("XDG_CACHE_HOME"), "deno") ?? systemDir();
  if (dir === undefined || dir.startsWith("/")) return dir;
  // A start seldom gets here, and is 12 ms longer for any of node:path and node:os.
  const { isAbsolute, join } = process.getBuiltinModule("node:path");
  return isAbsolute(dir) ? dir : join(cwd, dir);

  function systemDir(): string | undefined {
    switch (os) {
      case "windows":
        return under(value("LOCALAPPDATA"), "deno");
      case "darwin":
        return under(value("HOME") ?? home(), "Library/Caches/deno");
      default:
        return under(value("HOME") ?? home(), ".cache/deno");
    }
  }
}

function under(folder: string | null | undefined, name: string): string | undefined {
  return folder ? `${folder.replace(/\/$/, "")}/${name}` : undefined;
}

/** The folder of the Deno that runs this process. */
export function findOwnDenoDir(env: DenoDirInputs["env"]): string | undefined {
  const home = () => process.getBuiltinModule("node:os").homedir();
  return findDenoDir({ env, cwd: Deno.cwd(), home, os: Deno.build.os });
}
