/**
 * Starts the gateway: in a process of its own where it stays, as every file that this process has open
 * can be reached from a Worker (`node:net` takes over any descriptor); for one command, which lets
 * nobody in, in a Worker.
 *
 * @module
 */

import { type Permission, permissionFlags, workerPermissions } from "../base/permission.ts";
import { IS_BUILT, moduleUrl, ROOT } from "../base/layout.ts";
import { killTree, withinMoments } from "../base/process_tree.ts";
import { fromFileUrl } from "@std/path";
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

const ENTRY = "lib/process/service/worker.ts";

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
  const worker = new Worker((entry ?? moduleUrl(ENTRY)).href, {
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

/** Starts it in a process of its own, which has exactly the permissions of the table. */
export function gatewayProcess(
  table: readonly Permission[],
  env: (name: string) => string | undefined,
  entry?: URL,
): RunningGateway {
  const names = table.filter(({ kind }) => kind === "env").map(({ value }) => value);
  const variables = [...PROCESS_VARIABLES, ...names].flatMap((name) => {
    const value = env(name);
    return value === undefined ? [] : [[name, value]];
  });
  const child = new Deno.Command(Deno.execPath(), {
    args: [...runArgs(), ...permissionFlags(table), (entry ?? moduleUrl(ENTRY)).href],
    clearEnv: true,
    env: { ...Object.fromEntries(variables), DENO_NO_UPDATE_CHECK: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // What a terminal sends goes to this process alone, which ends the other in order.
    detached: true,
  }).spawn();
  let isOver = false;
  const ended = child.status.then(({ code, signal }) => {
    isOver = true;
    return signal === null ? `its process ended with code ${code}` : `it was ended by ${signal}`;
  });
  return {
    transport: streamTransport({ readable: child.stdout, writable: child.stdin }, {
      maxFrameBytes: MAX_GATEWAY_FRAME_BYTES,
    }),
    ended,
    async kill() {
      if (!isOver) killTree(child);
      await withinMoments(ended);
    },
  };
}

/** `deno run` up to the permissions; the same modules and packages as this process. */
function runArgs(): string[] {
  const locked = IS_BUILT ? [] : [
    `--config=${fromFileUrl(new URL("deno.json", ROOT))}`,
    `--lock=${fromFileUrl(new URL("deno.lock", ROOT))}`,
    "--frozen",
  ];
  return ["run", "--quiet", "--no-prompt", "--no-remote", "--cached-only", ...locked];
}
