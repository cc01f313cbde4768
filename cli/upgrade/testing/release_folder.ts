/**
 * Releases for tests: programs that are scripts, in a folder with their signed checksums, and a server for it.
 *
 * @module
 */

import { generateKeyPairSync } from "node:crypto";
import { readSigningKey, type SigningKey } from "../../../release/signing_key.ts";
import { writeChecksums } from "../../../release/checksums.ts";
import { programFileName } from "../checksums.ts";

/** Name of a program's file for this machine. */
export function programName(version: string): string {
  const { os, arch } = Deno.build;
  return programFileName(version, { os, arch, isCompiled: false });
}

/** A program that says what it is, and runs `more` for other commands than `version`. */
export function programText(
  version: string,
  { databaseVersion = 9, more = "" }: { databaseVersion?: number; more?: string } = {},
): string {
  return `#!/bin/sh
# service ${version} for tests
case "$*" in
  --version) echo "service ${version}" ;;
  "version --json") echo '{"version":"${version}","databaseVersion":${databaseVersion}}' ;;
  *) ${more || ":"} ;;
esac
`;
}

/** A new key. */
export function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  return readSigningKey(privateKey.export({ type: "pkcs8", format: "pem" }).toString())!;
}

/** Writes a release into a folder. */
export async function writeRelease(
  folder: string,
  files: Readonly<Record<string, string>>,
  key?: SigningKey,
): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o755 });
  }
  await writeChecksums(folder, key);
}

/** A server of a folder. */
export interface ReleaseServer extends AsyncDisposable {
  url: string;
  /** Answers for names, in place of the files. */
  instead: Map<string, () => Response | Promise<Response>>;
}

/** Starts one. */
export function serveRelease(folder: string): ReleaseServer {
  const instead = new Map<string, () => Response | Promise<Response>>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const answer = instead.get(name);
    if (answer !== undefined) return await answer();
    try {
      const file = await Deno.open(`${folder}/${name}`);
      const { size } = await file.stat();
      return new Response(file.readable, { headers: { "content-length": String(size) } });
    } catch {
      return new Response("not here\n", { status: 404 });
    }
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    instead,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
