/**
 * Starts the gateway: in a process of its own where it stays, as every file that this process has open
 * can be reached from a Worker (`node:net` takes over any descriptor); for one command, which lets
 * nobody in, in a Worker.
 *
 * @module
 */

import { type Permission, permissionFlags, workerPermissions } from "../base/permission.ts";
import { HOLDS_PACKAGES, moduleUrl, ROOT, sourcePaths } from "../base/layout.ts";
import { lockedFlags, ownFiles } from "../packages/locked_packages.ts";
import { closeInherited } from "../executor/inherited.ts";
import { findConfinement, sandboxBase, sandboxView } from "../executor/sandbox.ts";
import { endOf, spawnProcess } from "../executor/spawn_process.ts";
import { EXEC_FILTERED, writeSeccompFilter } from "../executor/seccomp_filter.ts";
import { withinMoments } from "../base/process_tree.ts";
import { dirname, fromFileUrl } from "@std/path";
import { portTransport } from "../rpc/port_transport.ts";
import { MAX_GATEWAY_FRAME_BYTES } from "./protocol.ts";
import { streamTransport } from "../rpc/stream_transport.ts";
import type { Transport } from "../rpc/transport.ts";

/** A gateway that was started. */
export interface RunningGateway {
  transport: Transport;
  /** Resolves with why it has ended, however that came; never rejects. */
  ended: Promise<string>;
  /** Ends it by force. Resolves when nothing is left. */
  kill(): Promise<void>;
}

const ENTRY = moduleUrl("lib/process/service/worker.ts");

/** What Deno and its packages take from the environment of the process, whatever the table says. */
const PROCESS_VARIABLES = [
  ...["DENO_DIR", "HOME", "XDG_CACHE_HOME", "TMPDIR", "TZ", "LANG", "LC_ALL", "NO_COLOR"],
  ...["DENO_CERT", "DENO_TLS_CA_STORE", "SSL_CERT_FILE", "SSL_CERT_DIR", "RUST_BACKTRACE"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [
    name,
    name.toLowerCase(),
  ]),
];

/** Starts it in a Worker. */
export function gatewayWorker(table: readonly Permission[], entry?: URL): RunningGateway {
  const ended = Promise.withResolvers<string>();
  const worker = new Worker((entry ?? ENTRY).href, {
    type: "module",
    name: "service",
    deno: { permissions: workerPermissions(table) },
  } as WorkerOptions);
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    ended.resolve(event.message);
  });
  return {
    transport: portTransport(worker),
    ended: ended.promise,
    kill: () => Promise.resolve(worker.terminate()),
  };
}

/** What a process of a gateway is made of. */
export interface GatewayProcess {
  table: readonly Permission[];
  env: (name: string) => string | undefined;
  entry?: URL;
  /** Folder of ours for what the sandbox needs; absent: there is no sandbox. */
  sandboxDir?: string;
  /** Deno's folder: what it has derived from the sources. */
  denoDir: string | undefined;
}

/** Starts it in a process of its own, which has exactly the permissions of the table. */
export async function gatewayProcess(options: GatewayProcess): Promise<RunningGateway> {
  const { table, env } = options;
  const names = table.filter(({ kind }) => kind === "env").map(({ value }) => value);
  const variables = [...PROCESS_VARIABLES, ...names].flatMap((name) => {
    const value = env(name);
    return value === undefined ? [] : [[name, value]];
  });
  const entry = options.entry ?? ENTRY;
  const argv = [
    ...await closeInherited(),
    ...await namespaces(options),
    ...[Deno.execPath(), "run", ...runFlags(), ...permissionFlags(table), entry.href],
  ];
  const environment = { ...Object.fromEntries(variables), DENO_NO_UPDATE_CHECK: "1" };
  const child = spawnProcess({ argv, env: environment, sharesStderr: true });
  const ended = endOf(child).then(({ reason }) => reason);
  return {
    transport: streamTransport(
      { readable: child.stdout, writable: child.stdin },
      { maxFrameBytes: MAX_GATEWAY_FRAME_BYTES },
    ),
    ended,
    async kill() {
      child.kill();
      await withinMoments(ended);
    },
  };
}

/**
 * What puts it into namespaces of its own: no other process is seen there, and no file beyond the table.
 * Not where it serves a port below 1024, for which a user namespace has no right.
 */
async function namespaces(
  { table, env, entry, sandboxDir, denoDir }: GatewayProcess,
): Promise<string[]> {
  const { bwrap } = await findConfinement();
  if (bwrap === undefined || sandboxDir === undefined || servesLowPort(table)) return [];
  const filter = await writeSeccompFilter(sandboxDir);
  const certificates = ["DENO_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR"].flatMap((name) =>
    env(name) ?? []
  );
  const sockets = (value: string) => value.startsWith("unix:") ? [dirname(value.slice(5))] : [];
  const valuesOf = (kind: Permission["kind"]) =>
    table.filter((entry) => entry.kind === kind).map(({ value }) => value);
  const readWrite = [
    ...valuesOf("net").flatMap(sockets),
    ...valuesOf("write").filter((path) => !valuesOf("net").includes(`unix:${path}`)),
    ...denoDir === undefined ? [] : [denoDir],
  ];
  const files = HOLDS_PACKAGES ? [] : ["deno.json", "deno.lock", "imports.json"];
  const readOnly = [
    ...files.map((name) => fromFileUrl(new URL(name, ROOT))),
    ...sourcePaths(["lib/", "channels/"], { shares: true }),
    ...entry === undefined ? [] : [fromFileUrl(entry)],
    ...await existing([...SYSTEM_FILES, ...certificates, ...valuesOf("read")]),
  ].filter((path) => !readWrite.includes(path));
  const view = { readOnly, readWrite: [...new Set(readWrite)], network: true };
  return [
    ...["/bin/sh", "-c", EXEC_FILTERED, filter, bwrap],
    // Its variables stand in the environment, and not in an argv that every user sees.
    ...(await sandboxBase(Deno.execPath())).filter((arg) => arg !== "--clearenv"),
    ...sandboxView(view, {}),
  ];
}

/** What Deno reads at its start of the machine's certificates and time. */
const SYSTEM_FILES = [
  ...["/etc/ssl", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates"],
  ...["/usr/share/ca-certificates", "/usr/local/share/ca-certificates"],
  ...["/etc/localtime", "/usr/share/zoneinfo"],
];

const LOWEST_PORT = 1_024;

function servesLowPort(table: readonly Permission[]): boolean {
  return table.some(({ kind, value, askedBy }) => {
    const port = Number(/:(\d+)$/.exec(value)?.[1] ?? LOWEST_PORT);
    const isServed = askedBy === "api" || askedBy === "channels.websocket";
    return kind === "net" && isServed && port > 0 && port < LOWEST_PORT;
  });
}

/** A path that is not there cannot be shown. */
async function existing(paths: readonly string[]): Promise<string[]> {
  const there = await Promise.all(
    paths.map((path) => Deno.stat(path).then(() => true, () => false)),
  );
  return paths.filter((_, at) => there[at]);
}

/** The same modules and packages as this process, and no others. */
function runFlags(): string[] {
  const files = ownFiles();
  const packages = files === undefined
    ? ["--no-lock", "--no-npm", `--config=${fromFileUrl(new URL("deno.json", ROOT))}`]
    : lockedFlags(files);
  return ["--quiet", "--no-prompt", "--no-remote", "--deny-import", "--cached-only", ...packages];
}
