/**
 * Puts the launcher `service` into a folder of the PATH, and takes it away again.
 *
 * Imports no packages: it runs before they are there.
 *
 * @module
 */

import { writeFileAtomic } from "../../lib/base/atomic_write.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { isProgram } from "../../lib/base/is_program.ts";
import { fromRoot, isLauncher, launcherText } from "./launcher.ts";

/** What {@linkcode install} works on. */
export interface InstallDeps {
  /** Folder of this checkout, without a slash at its end. */
  root: string;
  /** The deno that the launcher is to run. */
  deno: string;
  env: (name: string) => string | undefined;
}

/** A launcher that was written. */
export interface Installed {
  path: string;
  /** What the person should know, a line each. */
  remarks: string[];
}

/**
 * Writes it. `dir`: absolute; by default the first of ~/.local/bin and ~/.deno/bin that is on the PATH,
 * else ~/.local/bin. `built`: the folder of a built form to start instead of this checkout. Throws
 * `usage`, changing nothing, for a file there that is no launcher.
 */
export async function install(
  { dir, built }: { dir?: string; built?: string },
  deps: InstallDeps,
): Promise<Installed> {
  const root = built ?? deps.root;
  const args = built === undefined ? await taskArgs(root) : await builtArgs(root);
  const folder = dir ?? defaultDir(deps);
  const path = `${folder}/service`;
  await refuseForeign(path);
  try {
    await Deno.mkdir(folder, { recursive: true });
    await writeFileAtomic(path, launcherText({ root, deno: deps.deno, args }), { mode: 0o755 });
  } catch (cause) {
    throw fault(`Can't write ${path}: ${(cause as Error).message}. Choose a folder with --dir`);
  }
  return { path, remarks: pathRemarks(folder, deps) };
}

/** Removes the launchers of this checkout from a folder, or from the usual ones. The paths removed. */
export async function uninstall(
  { dir }: { dir?: string },
  { root, env }: InstallDeps,
): Promise<string[]> {
  const removed: string[] = [];
  for (const folder of dir === undefined ? usualDirs({ env }) : [dir]) {
    const path = `${folder}/service`;
    const text = await readText(path);
    const started = fromRoot(text ?? "");
    if (dir !== undefined && text !== undefined && started === undefined) {
      throw fault(`${path} isn't a launcher of this program. Nothing was removed`);
    }
    const isOwn = started === root || started?.startsWith(`${root}/`);
    if (started === undefined || (dir === undefined && !isOwn)) continue;
    await Deno.remove(path);
    removed.push(path);
  }
  return removed;
}

/** What the task `service` gives deno, as the shell reads it. */
async function taskArgs(root: string): Promise<string> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  const [, args] = /&& deno (.*)$/.exec(tasks.service.command)!;
  return args!.replaceAll("$ROOT", "$root");
}

/** What the script of a built form gives deno. */
async function builtArgs(folder: string): Promise<string> {
  const [, args] = /^exec deno ([^]*?) "\$@"$/m.exec(await readText(`${folder}/service`) ?? "") ??
    [];
  if (args !== undefined) return args.replaceAll("$folder", "$root");
  throw fault(`${folder} isn't a built form. Make one with: deno task build ${folder}`);
}

async function refuseForeign(path: string): Promise<void> {
  const info = await Deno.lstat(path).catch(() => undefined);
  if (info === undefined || (info.isFile && isLauncher(await readText(path) ?? ""))) return;
  throw fault(
    `${path} is there already and isn't a launcher of this program. ` +
      "Move it away, or choose another folder with --dir",
  );
}

function usualDirs({ env }: Pick<InstallDeps, "env">): string[] {
  const home = env("HOME");
  if (!home) throw fault("HOME is not set. Choose a folder with --dir");
  return [`${home}/.local/bin`, `${home}/.deno/bin`];
}

function defaultDir({ env }: InstallDeps): string {
  const [first, ...others] = usualDirs({ env });
  const folders = onPath({ env });
  return [first!, ...others].find((folder) => folders.includes(folder)) ?? first!;
}

function onPath({ env }: Pick<InstallDeps, "env">): string[] {
  return (env("PATH") ?? "").split(":").map((folder) => folder.replace(/(?<=.)\/+$/, ""));
}

/** Whether typing `service` reaches the folder, and how to see to that. */
function pathRemarks(folder: string, { env }: InstallDeps): string[] {
  const folders = onPath({ env });
  const at = folders.indexOf(folder);
  const other = folders.slice(0, at === -1 ? undefined : at).map((each) => `${each}/service`)
    .find(isProgram);
  const add = addToPath(folder, env("SHELL") ?? "");
  if (at === -1) {
    return [
      `${folder} is not on your PATH. Add it with:`,
      `  ${add}`,
      ...other === undefined ? [] : [`Until then, service means another program: ${other}`],
    ];
  }
  if (other === undefined) return [];
  return [
    `Another program comes first on your PATH: ${other}. Put ${folder} before it with:`,
    `  ${add}`,
  ];
}

function addToPath(folder: string, shell: string): string {
  const quoted = /^[\w@%+=:,./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'\\''`)}'`;
  if (shell.endsWith("/fish")) return `fish_add_path --move ${quoted}`;
  const file = shell.endsWith("/zsh")
    ? "~/.zshrc"
    : shell.endsWith("/bash")
    ? "~/.bashrc"
    : "~/.profile";
  const line = `export PATH=${quoted}:$PATH`;
  return `echo ${`'${line.replaceAll("'", `'\\''`)}'`} >> ${file} && ${line}`;
}

async function readText(path: string): Promise<string | undefined> {
  return await Deno.readTextFile(path).catch(() => undefined);
}

function fault(message: string): ServiceError {
  return new ServiceError("usage", message);
}
