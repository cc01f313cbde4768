/**
 * Starts the process of a channel.
 *
 * @module
 */

import type { Executor } from "../../executor/executor.ts";
import type { LockedPackages } from "../../packages/locked_packages.ts";
import type { OpenedPlace } from "../../place/open_place.ts";
import type { PlaceBoot } from "../../place/protocol.ts";
import type { Permission } from "../../base/permission.ts";
import { encodeFrame } from "../../rpc/byte_frames.ts";
import { moduleUrl } from "../../base/layout.ts";
import { withinMoments } from "../../base/process_tree.ts";

/** How a place is started. */
export interface StartOptions {
  boot: PlaceBoot;
  table: readonly Permission[];
  executor: Pick<Executor, "spawn">;
  /** Where its packages are; undefined where the program holds them. */
  packages: LockedPackages | undefined;
  /** Folder of its own for what Deno derives from its sources. */
  cacheDir: string;
  env: (name: string) => string | undefined;
  /** Takes secrets out of what it said last. */
  scrub: (text: string) => string;
}

const PLACE = moduleUrl("lib/place/worker.ts");

/** Characters of why a place has ended. */
const MAX_REASON_CHARS = 1_000;

/**
 * How this machine connects and writes dates: Deno itself reads these at its start, and no channel may
 * without naming them.
 */
const SYSTEM_VARIABLES = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["DENO_CERT", "DENO_TLS_CA_STORE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["TZ", "LANG", "LC_ALL"],
];

/** Those of them that name a file or folder. */
const SYSTEM_FILE_VARIABLES = ["DENO_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** What Deno reads at its start of the machine's certificates and time. */
const SYSTEM_FILES = [
  ...["/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/certs"],
  ...["/etc/pki/ca-trust/extracted", "/usr/share/ca-certificates", "/etc/ca-certificates"],
  ...["/usr/local/share/ca-certificates", "/etc/localtime", "/usr/share/zoneinfo"],
];

/** Starts one, with the permissions of the table and no others. Rejects when it cannot be. */
export async function startPlace(
  { boot, table, executor, packages, cacheDir, env, scrub }: StartOptions,
): Promise<OpenedPlace & { gone: Promise<void> }> {
  const values = (kind: Permission["kind"]) => [
    ...new Set(table.filter((entry) => entry.kind === kind).map((entry) => entry.value)),
  ];
  const write = values("write");
  const read = values("read");
  const named = values("env");
  const given = SYSTEM_FILE_VARIABLES.flatMap((name) => env(name) ?? []);
  const child = await executor.spawn({
    name: "channel",
    entry: PLACE,
    permissions: { read, write, net: values("net"), denyNet: [], env: named },
    view: {
      readOnly: await existing([...SYSTEM_FILES, ...given, ...read]),
      readWrite: write,
      network: true,
      cacheDir,
    },
    packages,
    env: Object.fromEntries(
      [...SYSTEM_VARIABLES, ...named].flatMap((name) => {
        const value = env(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  });
  const begin = child.stdin.getWriter();
  // Failing means that it has gone, which its end tells better.
  for (const bytes of encodeFrame(boot)) begin.write(bytes).catch(() => {});
  begin.releaseLock();

  const output = new TransformStream<Uint8Array, Uint8Array>();
  // Whoever says nothing more, or is heard no more, is of no use.
  const said = child.stdout.pipeTo(output.writable, { preventClose: true })
    .catch(() => {}).finally(() => child.close());
  const ended = Promise.withResolvers<string>();
  let closed = false;

  async function finish(): Promise<void> {
    const reason = await child.ended;
    await withinMoments(said);
    if (!closed) ended.resolve(scrub(reason).slice(0, MAX_REASON_CHARS));
    // The reason goes ahead of the end of what it said.
    setTimeout(() => output.writable.close().catch(() => {}), 0);
  }

  return {
    streams: { readable: output.readable, writable: child.stdin },
    ended: ended.promise,
    gone: finish(),
    close() {
      closed = true;
      child.close();
    },
  };
}

/** A path that is not there cannot be shown. */
async function existing(paths: readonly string[]): Promise<string[]> {
  const there = await Promise.all(
    paths.map((path) => Deno.stat(path).then(() => true, () => false)),
  );
  return paths.filter((_, at) => there[at]);
}
