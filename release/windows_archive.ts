/**
 * Makes the archive for Windows: Deno, the built form, and `service.cmd`, which starts them.
 *
 * @module
 */

import { type Zippable, zipSync } from "fflate";
import { builtArgs } from "./build.ts";
import { filesIn } from "./files_in.ts";

/** `%~dp0` is the folder of the script, with its separator. */
const LAUNCHER = `@echo off
setlocal
if not defined SERVICE_COMMAND set "SERVICE_COMMAND=service"
"%~dp0deno.exe" ${builtArgs("%~dp0")} %*
exit /b %errorlevel%
`.replaceAll("\n", "\r\n");

/** The earliest time that the format knows: the same sources make the same bytes. */
const MTIME = "1980-01-01T00:00:00";

/** Writes it. `built`: folder of the built form; `deno`: path of Deno for Windows. */
export async function makeWindowsArchive(
  path: string,
  { built, deno, level = 9 }: { built: string; deno: string; level?: 1 | 9 },
): Promise<void> {
  const files: Zippable = {
    "service/deno.exe": await Deno.readFile(deno),
    "service/service.cmd": new TextEncoder().encode(LAUNCHER),
  };
  for (const { path, isFolder } of await filesIn(built)) {
    // The launcher of other systems.
    if (isFolder || path === "service") continue;
    files[`service/${path}`] = await Deno.readFile(`${built}/${path}`);
  }
  await Deno.writeFile(path, zipSync(files, { level, mtime: MTIME }));
}
