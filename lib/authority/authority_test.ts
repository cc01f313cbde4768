import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { gatewayWorker } from "./run_gateway.ts";
import { GatewayPorts } from "./gateway_ports.ts";
import type { ServiceBoot } from "./protocol.ts";
import { startAuthority } from "./authority.ts";
import { printsOf } from "../secrets/prints_of.ts";
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
    documents: { extract: () => Promise.reject(new Error("none is sent")) },
    operator: { operate: () => Promise.reject(new Error("nobody asks")) },
    mcp: {
      tools: () => Promise.resolve([]),
      status: () => [],
      test: () => Promise.reject(new Error("nobody asks")),
    },
    localUsers: { userOf: () => Promise.reject(new Error("nobody asks")) },
    health: { probe: () => Promise.resolve({}) },
    ports,
    workspace: gate.workspace,
    // The words with which the Worker dies.
    scrubber: createScrubber(printsOf({ name: "WORDS", value: "died of hi" })),
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
