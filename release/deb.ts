/**
 * The Debian package of a release, made with dpkg-deb.
 *
 * @module
 */

import { dirname } from "@std/path";
import { SYSTEM_USER, systemdUnit, UNIT } from "../cli/service_manager/systemd_unit.ts";
import { VERSION } from "../cli/version.ts";
import { configSchema } from "../lib/config/schema.ts";

/** Debian's names of architectures. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  "linux-x64": "amd64",
  "linux-arm64": "arm64",
};

/** Where the program is. */
const PROGRAM = "/usr/bin/service";

/** Scripts that dpkg runs. */
const SCRIPTS = ["postinst", "prerm", "postrm"];

/** Name of the package for a platform; undefined where there is none. */
export function debName(target: string): string | undefined {
  const architecture = ARCHITECTURES[target];
  return architecture && `service_${debVersion()}_${architecture}.deb`;
}

/** What a package is made of. */
export interface DebInputs {
  /** Such as `linux-x64`. */
  target: string;
  /** The released file. */
  program: string;
  /** Where the package is written. */
  path: string;
  /** Of every file, seconds since 1970. */
  mtime: number;
}

/** Writes it. Rejects with what dpkg-deb says. */
export async function makeDeb({ target, program, path, mtime }: DebInputs): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "deb-" });
  const put = async (to: string, text: string, mode = 0o644) => {
    await Deno.mkdir(dirname(`${root}${to}`), { recursive: true });
    await Deno.writeTextFile(`${root}${to}`, text);
    await Deno.chmod(`${root}${to}`, mode);
  };
  try {
    await Deno.chmod(root, 0o755);
    const read = (file: string) => Deno.readTextFile(new URL(file, import.meta.url));
    await put("/usr/share/doc/service/copyright", await read("../LICENSE"));
    await put("/usr/share/doc/service/changelog", await read("../CHANGELOG.md"));
    await put(`/usr/lib/systemd/system/${UNIT}`, unit());
    await Deno.mkdir(`${root}${dirname(PROGRAM)}`, { recursive: true });
    await Deno.copyFile(program, `${root}${PROGRAM}`);
    await Deno.chmod(`${root}${PROGRAM}`, 0o755);
    for (const name of SCRIPTS) await put(`/DEBIAN/${name}`, await read(`deb/${name}`), 0o755);
    const { size } = await Deno.stat(program);
    await put("/DEBIAN/control", control(ARCHITECTURES[target]!, size));
    await build(root, path, mtime);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function build(root: string, path: string, mtime: number): Promise<void> {
  const { success, stderr } = await new Deno.Command("dpkg-deb", {
    // The program is compressed already.
    args: ["--root-owner-group", "-Zgzip", "-z1", "--build", root, path],
    env: { SOURCE_DATE_EPOCH: String(mtime) },
    stdout: "null",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
}

/** The system's unit, as `service install --system` writes it. */
function unit(): string {
  const { agent } = configSchema.parse({});
  return systemdUnit({
    program: [PROGRAM],
    env: { SERVICE_COMMAND: `sudo -H -u ${SYSTEM_USER} ${PROGRAM}` },
    writable: [],
    drainTimeoutS: agent.drainTimeoutS,
    logFile: "",
  }, "system");
}

function control(architecture: string, bytes: number): string {
  return `Package: service
Version: ${debVersion()}
Architecture: ${architecture}
Maintainer: The service maintainers <service@localhost>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.27), libgcc-s1, passwd
Recommends: bubblewrap, ca-certificates
Section: net
Priority: optional
Description: self-hosted agent runtime
 An agent that uses tools, reached through the browser, a WebSocket, an
 OpenAI-style HTTP API and from the shell. Every action passes a gate, runs in
 a confined process, and is recorded. bubblewrap makes the sandbox.
`;
}

/** A pre-release comes before its release. */
function debVersion(): string {
  return VERSION.replace("-", "~");
}
