// deno-lint-ignore-file no-console -- a program whose output is what it is for
/** Starts the intruder as a gateway with the permissions of a table, given as JSON in the first argument. */

import { AUTHORITY, GATEWAY, type ServiceBoot } from "../../lib/authority/protocol.ts";
import { createGatewayExecutor, gatewayProcess } from "../../lib/authority/run_gateway.ts";
import { lockedPackages } from "../../lib/packages/locked_packages.ts";
import { findOwnDenoDir } from "../../lib/packages/deno_dir.ts";
import { Peer } from "../../lib/rpc/peer.ts";
import { serviceErrors } from "../../lib/rpc/service_errors.ts";

const probe = JSON.parse(Deno.args[0]!);
const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };
const cacheDir = await Deno.makeTempDir();
const executor = createGatewayExecutor({ cacheDir, log });
const { confined } = await executor.confinement();
// What this process has open, and no gateway may have.
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const [client, secret] = await Promise.all([
  Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port }),
  listener.accept(),
]);
const running = await gatewayProcess({
  table: probe.table,
  env: (name) => Deno.env.get(name),
  entry: new URL("./intruder.ts", import.meta.url),
  executor,
  packages: lockedPackages(findOwnDenoDir((name) => Deno.env.get(name))),
  cacheDir: `${cacheDir}/own`,
});
const none = () => Promise.reject(new Error("not answered here"));
const peer = new Peer({
  transport: running.transport,
  mine: AUTHORITY,
  theirs: GATEWAY,
  errors: serviceErrors(),
  handlers: new Proxy({ calls: {}, notices: {} }, { get: () => none }) as never,
});
await client.write(new TextEncoder().encode("SECRET-FOR-THE-LAUNCHER"));
const boot = { ...probe, launcher: Deno.pid, isConfined: confined } as ServiceBoot;
const { modelReason } = await peer.call("start", boot);
const unread = new Uint8Array(100);
const count = await secret.read(unread);
const { attempts, ...report } = JSON.parse(modelReason);
attempts["read what another client sent"] =
  new TextDecoder().decode(unread.subarray(0, count!)) === "SECRET-FOR-THE-LAUNCHER"
    ? "NotCapable"
    : "allowed";
console.log(JSON.stringify({ ...report, attempts, isConfined: confined }));
await running.kill();
Deno.exit(0);
