/** `service upgrade`: replaces this program by the newest release, or by the version before. */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Globals } from "../command.ts";
import type { Installation } from "../installation/installation.ts";
import type { Output } from "../output.ts";
import type { Release } from "../upgrade/upgrade.ts";
import { VERSION } from "../version.ts";

/** Lines of the changelog that are shown. */
const MAX_CHANGES = 40;

const command: Command = {
  description:
    "Replaces this program by the newest release: shows what changes, downloads it, verifies its " +
    "checksum and signature, and restarts a running service. Keeps the previous version for --back. " +
    "Backs the home up first if the new version changes the database.",
  examples: [
    "service upgrade",
    "service upgrade --dry-run",
    "service upgrade --from ./service-0.2.0-linux-x64",
    "service upgrade --back",
  ],
  options: [
    { name: "from", value: "SOURCE", summary: "URL or folder of a release, or a released file" },
    { name: "dry-run", summary: "Show what would change, and change nothing" },
    { name: "back", summary: "Return to the previous version" },
  ],
  async run({ options, globals, out }) {
    const [{ findInstallation }, { stopSignal }] = await Promise.all([
      import("../installation/installation.ts"),
      import("../backup/progress.ts"),
    ]);
    const program = programToReplace(findInstallation());
    using stop = stopSignal();
    try {
      return options["back"] === true ? await goBack(program, globals, out) : await upgrade(
        program,
        {
          from: options["from"] as string | undefined,
          isDryRun: options["dry-run"] === true,
          signal: stop.signal,
        },
        globals,
        out,
      );
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      out.note("Stopped. Nothing was changed");
      return EXIT.interrupted;
    }
  },
};

/** The file of a release. Throws `usage` for other installations, saying how they are upgraded. */
function programToReplace(installation: Installation): string {
  if (installation.kind === "release") return installation.file;
  const how = {
    source: ["runs from source", "git pull"],
    built: ["was built from source", "git pull && deno task build"],
    archive: ["came as an archive", "the newer one, extracted in its place"],
    package: ["came as a package", "your package manager, or pull the newer image of a container"],
  }[installation.kind];
  throw new ServiceError("usage", `This program ${how[0]}. Upgrade it with: ${how[1]}`);
}

async function upgrade(
  program: string,
  { from, isDryRun, signal }: { from?: string; isDryRun: boolean; signal: AbortSignal },
  globals: Globals,
  out: Output,
): Promise<ExitCode> {
  const [{ readReleaseInfo }, { defaultSource, releaseSource }, { findRelease }, { isNewer }] =
    await Promise.all([
      import("../upgrade/release_info.ts"),
      import("../upgrade/release_source.ts"),
      import("../upgrade/upgrade.ts"),
      import("../upgrade/changes.ts"),
    ]);
  const { releasesUrl, publicKey } = await readReleaseInfo();
  const source = await releaseSource(from ?? defaultSource(releasesUrl, VERSION), Deno.cwd());
  const { os, arch, standalone: isCompiled } = Deno.build;
  const options = { version: VERSION, platform: { os, arch, isCompiled }, publicKey, signal };
  const release = await findRelease(source, options);
  const { version } = release.file;
  if (version === VERSION) {
    if (globals.json) out.json({ from: VERSION, to: VERSION, upgraded: false });
    else out.note(`This is the newest version: ${VERSION}`);
    return EXIT.done;
  }
  if (!isNewer(version, VERSION)) {
    throw new ServiceError(
      "conflict",
      `${version} in ${source.place} is older than this version, ${VERSION}. Nothing was changed. ` +
        "To return to the version before: service upgrade --back",
    );
  }
  if (!globals.json) printRelease(release, out);
  if (isDryRun) {
    if (globals.json) {
      out.json({ from: VERSION, to: version, changes: release.changes, dryRun: true });
    }
    return EXIT.done;
  }
  const { runUpgrade } = await import("../upgrade/run_upgrade.ts");
  return await runUpgrade(program, { source, release, signal }, globals, out);
}

function printRelease({ file, changes, isSigned }: Release, out: Output): void {
  out.note(`service ${VERSION} → ${file.version}`);
  for (const line of changes.slice(0, MAX_CHANGES)) out.note({ text: `  ${line}`, isData: true });
  const more = changes.length - MAX_CHANGES;
  if (more > 0) out.note(`  … ${more} more lines in CHANGELOG.md`);
  if (!isSigned) out.note("Its signature can't be verified: this program has no key");
}

async function goBack(program: string, globals: Globals, out: Output): Promise<ExitCode> {
  const { runGoBack } = await import("../upgrade/run_upgrade.ts");
  return await runGoBack(program, globals, out);
}

export default command;
