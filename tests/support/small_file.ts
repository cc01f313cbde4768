/**
 * A self-extracting file that is made and unpacked in moments: its Deno is a script that starts the one of
 * this process, and its program prints its arguments.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { SETTLE_MODULE } from "../../release/build.ts";
import { makeSelfExtracting } from "../../release/self_extracting.ts";
import { TARGETS } from "../../release/targets.ts";

/** Programs that the script of such a file starts. */
export const FILE_PROGRAMS = [
  "sh",
  "find",
  "gzip",
  "mkdir",
  "mktemp",
  "rm",
  "tail",
  "tar",
  "uname",
  "wc",
] as const;

/** The platform of this machine; undefined where no file is made for it. */
export function ownTarget() {
  const { os, arch } = Deno.build;
  const name = `${os === "darwin" ? "macos" : os}-${arch === "x86_64" ? "x64" : "arm64"}`;
  return TARGETS.find((target) => target.name === name);
}

/** Makes it in a folder that is there. */
export async function makeSmallFile(path: string): Promise<void> {
  const parts = `${path}.parts`;
  const settle = `${parts}/built/${SETTLE_MODULE}`;
  await Deno.mkdir(settle.replace(/\/[^/]*$/, ""), { recursive: true });
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform", "deno", "--no-config", "--output", settle],
      fromFileUrl(new URL(`../../${SETTLE_MODULE.replace(/\.js$/, ".ts")}`, import.meta.url)),
    ],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  await Deno.mkdir(`${parts}/built/cli`);
  await Deno.writeTextFile(
    `${parts}/built/cli/main.js`,
    "console.log(JSON.stringify([Deno.env.get('SERVICE_COMMAND'), ...Deno.args]));\n",
  );
  await Deno.writeTextFile(
    `${parts}/built/deno.json`,
    JSON.stringify({ permissions: { service: { env: true } } }),
  );
  await Deno.writeTextFile(`${parts}/deno`, `#!/bin/sh\nexec '${Deno.execPath()}' "$@"\n`);
  const target = ownTarget()!;
  await makeSelfExtracting(path, {
    target,
    built: `${parts}/built`,
    deno: `${parts}/deno`,
    level: 1,
  });
  await Deno.remove(parts, { recursive: true });
}
