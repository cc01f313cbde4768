/**
 * A copy of the program's sources in a folder of its own, for tests that change them.
 *
 * @module
 */

import { join, toFileUrl } from "@std/path";
import { lockedFlags, projectFiles } from "../../lib/packages/locked_packages.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** What it takes to run the program, generate what is generated, and test a channel. */
const PARTS = [
  "cli",
  "channels",
  "lib",
  "docs",
  "release",
  "webui",
  "deno.json",
  "imports.json",
  "deno.lock",
  "mod.ts",
];

/** Removed when disposed. */
export interface ProjectCopy extends AsyncDisposable {
  /** With a slash at its end. */
  readonly root: string;
  /** Runs Deno in it, with its lock; rejects with what it said when it fails. */
  deno(command: string, ...args: string[]): Promise<string>;
}

/** Makes one. */
export async function copyProject(): Promise<ProjectCopy> {
  const root = `${await Deno.realPath(await Deno.makeTempDir({ prefix: "project-" }))}/`;
  for (const part of PARTS) await copyTree(join(ROOT, part), join(root, part));
  return {
    root,
    async deno(command, ...args) {
      const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [command, ...lockedFlags(projectFiles(toFileUrl(root))), ...args],
        cwd: root,
        env: { NO_COLOR: "1" },
      }).output();
      const text = new TextDecoder().decode(stdout);
      if (!success) {
        throw new Error(
          `deno ${command} ${args.join(" ")}: ${text}${new TextDecoder().decode(stderr)}`,
        );
      }
      return text;
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** A file, or a folder with all that is in it. */
export async function copyTree(from: string, to: string): Promise<void> {
  if ((await Deno.stat(from)).isFile) return await Deno.copyFile(from, to);
  await Deno.mkdir(to);
  for await (const { name } of Deno.readDir(from)) await copyTree(join(from, name), join(to, name));
}
