/**
 * What people type to reach this program from source, so that each command that it prints works as it
 * stands there.
 *
 * Imports no packages: it runs before they are there.
 *
 * @module
 */

import { fromRoot } from "./launcher.ts";

/** What {@linkcode typedAs} looks at. */
export interface TypedAsInputs {
  /** Folder of the program, without a slash at its end. */
  root: string;
  cwd: string;
  env: (name: string) => string | undefined;
  /** Text of a file; undefined where it cannot be read. */
  read: (path: string) => string | undefined;
  /** Whether a file is there that can be run. */
  isProgram: (path: string) => boolean;
  denoVersion: string;
}

/** `service` where a launcher of this checkout comes first on the PATH, else the task. */
export function typedAs(inputs: TypedAsInputs): string {
  const { root, cwd, env, read, isProgram, denoVersion } = inputs;
  const folders = (env("PATH") ?? "").split(":").filter((folder) => folder !== "");
  const first = folders.map((folder) => `${folder}/service`).find(isProgram);
  if (first !== undefined && fromRoot(read(first) ?? "") === root) return "service";
  // npx puts a folder on the PATH of what it runs, which is gone from the shell afterwards.
  const lasting = folders.filter((folder) => !folder.endsWith("/node_modules/.bin"));
  const deno = lasting.some((folder) => isProgram(`${folder}/deno`))
    ? "deno"
    : `npx -y deno@${denoVersion}`;
  const isHere = cwd === root || cwd.startsWith(`${root}/`);
  return isHere ? `${deno} task service` : `${deno} task --config ${quoted(root)} service`;

  function quoted(folder: string): string {
    return shellQuoted(`${folder}/deno.json`);
  }
}

/** `service` where a program of one file comes first on the PATH, else its path. */
export function fileTypedAs(
  file: string,
  { env, isProgram, realPath, os }:
    & Pick<TypedAsInputs, "env" | "isProgram">
    & { realPath: (path: string) => string; os: typeof Deno.build.os },
): string {
  const [separator, ending] = os === "windows" ? [";", ".exe"] : [":", ""];
  const folders = (env("PATH") ?? "").split(separator).filter((folder) => folder !== "");
  const first = folders.map((folder) => `${folder}/service${ending}`).find(isProgram);
  if (first !== undefined && realPath(first) === realPath(file)) return "service";
  if (os !== "windows") return shellQuoted(file);
  return file.includes(" ") ? `"${file}"` : file;
}

function shellQuoted(file: string): string {
  return /^[\w@%+=:,./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`;
}
