import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { gatewayWorker } from "./gateway_worker.ts";
import type { RunningGateway } from "./run_gateway.ts";
import { Peer } from "../rpc/peer.ts";
import { portTransport } from "../rpc/port_transport.ts";
import { serviceErrors } from "../rpc/service_errors.ts";
import { GatewayPorts } from "./gateway_ports.ts";
import { AUTHORITY, GATEWAY, type ServiceBoot, type Started } from "./protocol.ts";
import { type AuthorityDeps, startAuthority } from "./authority.ts";
import { fingerprintsOf } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { gateFixture } from "./testing/gate_fixture.ts";

Deno.test("startAuthority() fails what waits for the outbox, on record, when the service dies", async () => {
  const ports = new GatewayPorts(createScrubber([]));
  await using gate = await gateFixture({
    messageTargets: ["telegram:12345"],
    outbox: ports.outbox,
  });
  const silent = () => {};
  const acted = Promise.withResolvers<unknown>();
  const authority = await startAuthority({
    run: () => gatewayWorker([], new URL("./testing/dying_worker.ts", import.meta.url)),
    boot: () => ({}) as ServiceBoot,
    restarts: false,
    onStarted: () => {},
    actions: {
      turnEnded() {},
      async act(request, options) {
        try {
          const result = await gate.actions.act(request, options);
          acted.resolve(result);
          return result;
        } catch (error) {
          acted.resolve(error);
          throw error;
        }
      },
    },
    checkFolder: () => Promise.resolve(),
    documents: { extract: () => Promise.reject(new Error("none is sent")) },
    operator: { operate: () => Promise.reject(new Error("nobody asks")) },
    mcp: {
      tools: () => Promise.resolve([]),
      status: () => [],
      test: () => Promise.reject(new Error("nobody asks")),
    },
    appFiles: () => Promise.resolve([]),
    localUsers: { userOf: () => Promise.reject(new Error("nobody asks")) },
    pair: () => Promise.reject(new Error("nobody asks")),
    retention: { prune: () => Promise.reject(new Error("nobody asks")) },
    reload: () => Promise.reject(new Error("nobody asks")),
    health: { probe: () => Promise.resolve({}) },
    ports,
    workspace: gate.workspace,
    // The words with which the Worker dies.
    scrubber: createScrubber(fingerprintsOf({ name: "WORDS", value: "died of hi" })),
    log: { debug: silent, info: silent, warning: silent, error: silent },
  });
  await assertRejects(() => authority.died, ServiceError, "[secret WORDS]");
  const result = await acted.promise as { status: string; error: { code: string } };
  assertEquals([result.status, result.error.code], ["failed", "executor_fault"]);
  const [, start, end] = await gate.records();
  assertEquals([start!.kind, end!.kind, end!.data.start], [
    "action.start",
    "action.end",
    start!.seq,
  ]);
  assertEquals([end!.data.status, end!.data.code], ["failed", "executor_fault"]);
});

Deno.test("startAuthority() starts a gateway again that died, and tells it what changed meanwhile", async () => {
  const silent = () => {};
  const lines: string[] = [];
  const starts: PromiseWithResolvers<Started>[] = [];
  const ends: PromiseWithResolvers<string>[] = [];
  const told: unknown[][] = [];
  const none = () => Promise.reject(new Error("nobody asks"));
  let version = 0;
  function run(): RunningGateway {
    const { port1, port2 } = new MessageChannel();
    const start = Promise.withResolvers<Started>();
    const ended = Promise.withResolvers<string>();
    const heard: unknown[] = [];
    const gateway = new Peer({
      transport: portTransport(port2),
      mine: GATEWAY,
      theirs: AUTHORITY,
      errors: serviceErrors(),
      handlers: {
        calls: {
          start(boot) {
            heard.push(boot.version);
            return start.promise;
          },
          guest: none,
          enqueue: none,
          create_automation: none,
          used_bytes: none,
          removable: none,
          remove: none,
          drain: () => ({ interrupted: 7 }),
        },
        notices: {
          channels: silent,
          secret_fingerprints: (fingerprints) => void heard.push(fingerprints),
          checks: silent,
          configure: silent,
        },
      },
    });
    starts.push(start);
    ends.push(ended);
    told.push(heard);
    return {
      transport: portTransport(port1),
      ended: ended.promise,
      kill() {
        ended.resolve("it was killed");
        gateway.close();
        return Promise.resolve();
      },
    };
  }
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const starting = startAuthority({
    run,
    boot: () => ({ version: `${++version}` }) as ServiceBoot,
    restarts: true,
    onStarted: silent,
    scrubber: createScrubber(fingerprintsOf({ name: "WORDS", value: "secret words" })),
    log: {
      debug: silent,
      info: silent,
      warning: silent,
      error: (message: string, fields: { reason: string }) =>
        lines.push(`${message}: ${fields.reason}`),
    },
    ports: new GatewayPorts(createScrubber([])),
  } as unknown as AuthorityDeps);
  const up = { model: "none", modelReason: "a test", interrupted: 0 };
  await until(() => told[0]?.length === 1);
  starts[0]!.resolve(up);
  const authority = await starting;
  ends[0]!.resolve("it said secret words");
  await until(() => told[1]?.length === 1);
  const fingerprints = fingerprintsOf({ name: "NEW", value: "another secret" });
  authority.setSecretFingerprints(fingerprints);
  starts[1]!.resolve({ ...up, apiUrl: "again" });
  await until(() => authority.started.apiUrl === "again");
  assertEquals(told[1], ["2", fingerprints]);
  assertEquals(lines, ["The gateway has ended and is started again: it said [secret WORDS]"]);
  assertEquals(await authority.drain({ graceMs: 0 }), { interrupted: 7 });
  assertEquals(starts.length, 2);
});
