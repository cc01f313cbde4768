/**
 * A root folder with a shell, the programs that a file to download needs, and their libraries: neither Deno
 * nor Node, and nothing else of this machine.
 *
 * @module
 */

import { programPath } from "./needs.ts";
import { FILE_PROGRAMS } from "./small_file.ts";

/** What the sandbox is made and tried out with, and something to run in it. */
const SANDBOX_PROGRAMS = [
  "bash",
  "bubblewrap",
  "cat",
  "chmod",
  "cut",
  "env",
  "head",
  "ls",
  "mv",
  "readlink",
  "sort",
  "tr",
  "unshare",
] as const;

const NAMES = [...FILE_PROGRAMS, ...SANDBOX_PROGRAMS] as const;

/** What a test with such a root needs. */
export const IMAGE_NEEDS = ["Linux", ...NAMES, "ldd"] as const;

/** Makes it in a folder that is not there. */
export async function makeImage(folder: string): Promise<void> {
  for (const name of ["usr/bin", "tmp", "home", "proc", "dev", "etc"]) {
    await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  }
  await Deno.symlink("usr/bin", `${folder}/bin`);
  const programs = NAMES.map((name) => programPath(name));
  const { stdout } = await new Deno.Command(programPath("ldd"), {
    args: await Promise.all(programs.map((path) => Deno.realPath(path))),
  }).output();
  // Deno's own are among these: libdl, libm and the like come with the C library.
  const { stdout: ofDeno } = await new Deno.Command(programPath("ldd"), {
    args: [Deno.execPath()],
  }).output();
  const text = new TextDecoder();
  const libraries = (text.decode(stdout) + text.decode(ofDeno)).matchAll(/(\/\S+\.so\S*)/g);
  for (const path of new Set([...libraries].map(([, path]) => path!))) await copy(path);
  for (const path of programs) await copy(path, `/usr/bin/${path.replace(/.*\//, "")}`);

  async function copy(path: string, to = path): Promise<void> {
    await Deno.mkdir(`${folder}${to.replace(/\/[^/]*$/, "")}`, { recursive: true });
    await Deno.copyFile(path, `${folder}${to}`);
  }
}

/** Arguments of bubblewrap that make it the root of a program, with a folder of the host at `/data`. */
export function imageArgs(folder: string, data: string): string[] {
  return [
    // A /proc of bubblewrap's own hides files, and the kernel then lets no sandbox in there have one.
    ...[
      "--bind",
      folder,
      "/",
      "--bind",
      "/proc",
      "/proc",
      "--dev",
      "/dev",
      "--bind",
      data,
      "/data",
    ],
    ...["--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/bin"],
    ...["--setenv", "HOME", "/data", "--chdir", "/data"],
  ];
}
