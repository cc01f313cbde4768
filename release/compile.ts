// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * Makes the files that users download, in `release/out`, in both forms:
 *
 *     deno task compile [linux-x64 …]
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { build } from "./build.ts";
import { makeCompiled } from "./compiled.ts";
import { denoBinary } from "./deno_binary.ts";
import { makeSelfExtracting } from "./self_extracting.ts";
import { RELEASE_INFO_FILE, type ReleaseInfo } from "../cli/upgrade/release_info.ts";
import { releaseInfo } from "./releases_url.ts";
import { readSigningKey, RELEASE_KEY } from "./signing_key.ts";
import { compiledFileName, selfExtractingFileName, type Target, TARGETS } from "./targets.ts";
import { makeWindowsArchive } from "./windows_archive.ts";

/** Where the files come. */
export const OUT_FOLDER = fromFileUrl(new URL("out", import.meta.url));

/** The platforms of these names, or all. Throws an Error that names one that isn't there. */
export function targetsOf(names: readonly string[]): readonly Target[] {
  if (names.length === 0) return TARGETS;
  return names.map((name) => {
    const target = TARGETS.find((each) => each.name === name);
    if (target !== undefined) return target;
    const known = TARGETS.map(({ name }) => name).join(", ");
    throw new Error(`Unknown platform "${name}": expected one of ${known}`);
  });
}

/** Makes them. `info`: what the programs know of releases. */
export async function compile(targets: readonly Target[], info: ReleaseInfo): Promise<void> {
  await Deno.mkdir(OUT_FOLDER, { recursive: true });
  const built = await Deno.makeTempDir({ prefix: "built-" });
  try {
    await build(built);
    await Deno.writeTextFile(`${built}/${RELEASE_INFO_FILE}`, JSON.stringify(info) + "\n");
    for (const target of targets) {
      const path = `${OUT_FOLDER}/${selfExtractingFileName(target)}`;
      const deno = await denoBinary(target);
      if (target.name === "windows-x64") await makeWindowsArchive(path, { built, deno });
      else await makeSelfExtracting(path, { target, built, deno });
      tell(path);
      const compiled = `${OUT_FOLDER}/${compiledFileName(target)}`;
      const problem = await makeCompiled(compiled, { target, built });
      if (problem === undefined) tell(compiled);
      else console.warn(`${compiledFileName(target)} was not made: ${problem}`);
    }
  } finally {
    await Deno.remove(built, { recursive: true });
  }
}

function tell(path: string): void {
  console.log(`${path}  ${(Deno.statSync(path).size / 1e6).toFixed(1)} MB`);
}

if (import.meta.main) {
  try {
    const key = readSigningKey(Deno.env.get(RELEASE_KEY));
    await compile(targetsOf(Deno.args), releaseInfo(key));
  } catch (error) {
    console.error(`error: ${(error as Error).message}`);
    Deno.exit(1);
  }
}
