/**
 * Entry of the gateway: a process, or a Worker for one command. It is started with exactly the permissions
 * of the table and imports more once it knows what it is to be.
 *
 * @module
 */

import { AUTHORITY, GATEWAY, MAX_GATEWAY_CALLS } from "../../authority/protocol.ts";
import { Peer } from "../../rpc/peer.ts";
import { gatewayTransport, IS_PROCESS } from "../../authority/gateway_transport.ts";
import { serviceErrors } from "../../rpc/service_errors.ts";
import { PEER_TRACE, startTelemetry } from "../../telemetry/trace.ts";
import type { Service } from "./service.ts";

// A guest may be handed over before the gateway is up; it waits.
const running = Promise.withResolvers<Service>();

/** Before it is told what it is to be, which takes the authority a while. */
const loading = import("./service.ts");
loading.catch(() => {});
// A process of its own serves somebody.
if (IS_PROCESS) {
  void loading.then(() => import("../../listen/listen.ts")).then((listen) => listen.loadListener())
    .catch(() => {});
}

const peer = new Peer({
  transport: gatewayTransport(),
  mine: GATEWAY,
  theirs: AUTHORITY,
  errors: serviceErrors(),
  maxCalls: MAX_GATEWAY_CALLS,
  trace: PEER_TRACE,
  handlers: {
    calls: {
      async start(boot) {
        const { startService } = await loading;
        await startTelemetry();
        const service = await startService(boot, peer);
        running.resolve(service);
        return service.started;
      },
      guest: async (streams) => (await running.promise).welcome(streams),
      enqueue: async (message) => await (await running.promise).enqueue(message),
      create_automation: async (made) => await (await running.promise).createAutomation(made),
      used_bytes: async (kind) => await (await running.promise).stored(kind).usedBytes(),
      removable: async ({ kind, after }) => await (await running.promise).stored(kind).page(after),
      remove: async ({ kind, items }) => await (await running.promise).stored(kind).remove(items),
      drain: async (how) => await (await running.promise).drain(how),
    },
    notices: {
      channels: (specs) => void running.promise.then((service) => service.setChannels(specs)),
      secret_fingerprints: (fingerprints) =>
        void running.promise.then((service) => service.setSecretFingerprints(fingerprints)),
      checks: (checks) => void running.promise.then((service) => service.setChecks(checks)),
      configure: (change) => void running.promise.then((service) => service.configure(change)),
    },
  },
});

if (IS_PROCESS) {
  // Whoever stops the service tells its first process, which drains this one; some tell all of them.
  const stops: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT"]
    : ["SIGTERM", "SIGINT", "SIGHUP"];
  for (const signal of stops) Deno.addSignalListener(signal, () => {});
  void peer.ended.then(() => Deno.exit());
}
