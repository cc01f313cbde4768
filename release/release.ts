// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * Makes a release in `release/out`: the programs, the install script, packages, the bill of materials,
 * checksums and their signature.
 *
 *     deno task release [linux-x64 …] [--publish URL]
 *
 * Signs with the key in `SERVICE_RELEASE_KEY`; without one the release isn't signed, and its programs
 * take no upgrades from URLs. `--publish` fails where anything of a release for everybody is missing.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { CHANGELOG } from "../cli/upgrade/changes.ts";
import { CHECKSUMS } from "../cli/upgrade/checksums.ts";
import { ROOT } from "../lib/base/layout.ts";
import { findOwnDenoDir } from "../lib/packages/deno_dir.ts";
import { checksumsOf, writeChecksums } from "./checksums.ts";
import { compile, OUT_FOLDER, targetsOf } from "./compile.ts";
import { debName, makeDeb } from "./deb.ts";
import { FORMULA, formula } from "./formula.ts";
import { INSTALL_SCRIPT, installScript } from "./install_script.ts";
import { isReleasesUrlSet, releaseInfo, RELEASES_URL, VERSION_URL } from "./releases_url.ts";
import { SBOM, sbom } from "./sbom.ts";
import { readSigningKey, RELEASE_KEY, type SigningKey } from "./signing_key.ts";
import { selfExtractingFileName, type Target } from "./targets.ts";

/** Whether dpkg-deb is on this machine. */
async function hasDpkgDeb(): Promise<boolean> {
  const command = new Deno.Command("dpkg-deb", { args: ["--version"], stdout: "null" });
  return await command.output().then(({ success }) => success, () => false);
}

/** When the newest commit was made, so that a release of it is the same at any time. */
async function commitTime(): Promise<Date> {
  const { success, stdout } = await new Deno.Command("git", {
    args: ["log", "-1", "--format=%ct"],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error("git doesn't tell the time of the newest commit");
  return new Date(Number(new TextDecoder().decode(stdout)) * 1_000);
}

/** Throws an Error for what a release for everybody lacks. `url`: where it will be. */
function checkPublic(url: string, key: SigningKey | undefined): void {
  if (RELEASES_URL !== url) {
    throw new Error(
      `RELEASES_URL in release/releases_url.ts is ${RELEASES_URL}: expected ${url}. ` +
        "Set it and run deno task generate",
    );
  }
  if (key === undefined) throw new Error(`${RELEASE_KEY} isn't set: a release has to be signed`);
}

async function release(
  targets: readonly Target[],
  { publish }: { publish: string | undefined },
): Promise<void> {
  const key = readSigningKey(Deno.env.get(RELEASE_KEY));
  if (publish !== undefined) checkPublic(publish, key);
  const time = await commitTime();
  // What an earlier version left would be in the list.
  await Deno.remove(OUT_FOLDER, { recursive: true }).catch(() => {});
  await compile(targets, releaseInfo(key));
  const put = (name: string, text: string) => Deno.writeTextFile(`${OUT_FOLDER}/${name}`, text);
  await makeDebs(targets, { time, isPublic: publish !== undefined });
  await put(SBOM, await sbom({ denoDir: findOwnDenoDir((name) => Deno.env.get(name))!, time }));
  await put(FORMULA, formula(await checksumsOf(OUT_FOLDER), VERSION_URL));
  await put(INSTALL_SCRIPT, await installScript(key));
  await put(CHANGELOG, await Deno.readTextFile(new URL(CHANGELOG, ROOT)));
  const seccomp = new URL("container/seccomp.json", import.meta.url);
  await Deno.copyFile(seccomp, `${OUT_FOLDER}/service-seccomp.json`);
  await writeChecksums(OUT_FOLDER, key);
  console.log(await Deno.readTextFile(`${OUT_FOLDER}/${CHECKSUMS}`));
  if (key === undefined) console.error(`Not signed: ${RELEASE_KEY} isn't set`);
  if (!isReleasesUrlSet()) console.error("RELEASES_URL in release/releases_url.ts isn't set");
}

async function makeDebs(
  targets: readonly Target[],
  { time, isPublic }: { time: Date; isPublic: boolean },
): Promise<void> {
  if (!await hasDpkgDeb()) {
    const problem = "dpkg-deb isn't installed, and makes the Debian packages";
    if (isPublic) throw new Error(problem);
    console.error(`No Debian packages: ${problem}`);
    return;
  }
  for (const target of targets) {
    const name = debName(target.name);
    if (name === undefined) continue;
    await makeDeb({
      target: target.name,
      program: `${OUT_FOLDER}/${selfExtractingFileName(target)}`,
      path: `${OUT_FOLDER}/${name}`,
      mtime: time.getTime() / 1_000,
    });
  }
}

if (import.meta.main) {
  try {
    const { _: names, publish } = parseArgs(Deno.args, { string: ["publish"] });
    await release(targetsOf(names.map(String)), { publish: publish as string | undefined });
  } catch (error) {
    console.error(`error: ${(error as Error).message}`);
    Deno.exit(1);
  }
}
