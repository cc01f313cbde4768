import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { fingerprintsOf } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import type { Enqueued } from "../contract/ports.ts";
import { NO_ENDPOINT } from "../rpc/endpoint.ts";
import { Peer } from "../rpc/peer.ts";
import { portTransport } from "../rpc/port_transport.ts";
import { serviceErrors } from "../rpc/service_errors.ts";
import { GatewayPorts } from "./gateway_ports.ts";
import { AUTHORITY, GATEWAY, type SentMessage } from "./protocol.ts";

const MESSAGE = { id: "m", turnId: "t", channel: "telegram", chatId: "1", content: "hi" };
const LONG = { timeoutMs: 60_000 };
const ANSWER: Enqueued = { repeated: false, channelEnabled: true };

/** Ports over a real connection; `enqueue` stands for the gateway's. */
function connected(enqueue: (message: SentMessage) => Promise<Enqueued>) {
  const { port1, port2 } = new MessageChannel();
  const errors = serviceErrors();
  const gateway = new Peer({
    transport: portTransport(port2),
    mine: { calls: { enqueue: GATEWAY.calls.enqueue }, notices: {} },
    theirs: NO_ENDPOINT,
    handlers: { calls: { enqueue }, notices: {} },
    errors,
  });
  const peer = new Peer({
    transport: portTransport(port1),
    mine: NO_ENDPOINT,
    theirs: GATEWAY,
    handlers: { calls: {}, notices: {} },
    errors,
  });
  const ports = new GatewayPorts(
    createScrubber(fingerprintsOf({ name: "KEY", value: "sk-0123456789" })),
  );
  ports.connect(peer);
  return {
    outbox: ports.outbox,
    close(reason: string) {
      peer.close(reason);
      gateway.close(reason);
    },
  };
}

Deno.test("enqueue() gives the gateway's answer or error, and tells it no secret", async () => {
  const seen: string[] = [];
  const { outbox, close } = connected((message) => {
    seen.push(message.content);
    return message.id === "full"
      ? Promise.reject(new ServiceError("storage_full", "full"))
      : Promise.resolve(ANSWER);
  });
  assertEquals(await outbox.enqueue({ ...MESSAGE, content: "sk-0123456789!" }, LONG), ANSWER);
  const refused = () => outbox.enqueue({ ...MESSAGE, id: "full" }, LONG);
  const error = await assertRejects(refused, ServiceError, "full");
  assertEquals([error.code, seen], ["storage_full", ["[secret KEY]!", "hi"]]);
  close("the test is over");
});

Deno.test("enqueue() waits no longer than it is told, and takes a late answer for nothing", async () => {
  const late = Promise.withResolvers<Enqueued>();
  const { outbox, close } = connected(() => late.promise);
  const error = await assertRejects(() => outbox.enqueue(MESSAGE, { timeoutMs: 1 }), ServiceError);
  assertEquals(error.code, "executor_fault");
  assertStringIncludes(error.message, "not known whether the message was queued");
  late.resolve(ANSWER);
  close("the test is over");
});

Deno.test("enqueue() fails what waits when the gateway goes, and everything that comes", async () => {
  const { outbox, close } = connected(() => new Promise(() => {}));
  const waiting = [outbox.enqueue(MESSAGE, LONG), outbox.enqueue(MESSAGE, LONG)];
  close("the service stopped");
  for (const each of waiting) {
    const error = await assertRejects(
      () => each,
      ServiceError,
      "the service stopped, so it is not",
    );
    assertEquals(error.code, "executor_fault");
  }
  const later = await assertRejects(() => outbox.enqueue(MESSAGE, LONG), ServiceError);
  assertEquals(later.code, "draining");
  const early = new GatewayPorts(createScrubber([]));
  const error = await assertRejects(() => early.outbox.enqueue(MESSAGE, LONG), ServiceError);
  assertEquals(error.code, "draining");
});

Deno.test("AUTHORITY checks what it is asked, and takes no terminal's word from a gateway", () => {
  const context = {
    sessionKey: "s",
    turnId: "t",
    callId: "c",
    channel: "cli",
    actor: "a",
    attended: true,
    personHosts: [],
    toolUrls: [],
  };
  const { act, operate, local_user, extract } = AUTHORITY.calls;
  assertEquals(act.params!({ tool: "x", args: 1, context }), { tool: "x", args: 1, context });
  const request = { op: "approvals.list" };
  operate.params!({ request, credential: { kind: "token", token: "x" } });
  const wrong: [(value: unknown) => unknown, unknown][] = [
    [act.params!, null],
    [act.params!, { tool: "x", context: { ...context, attended: "yes" } }],
    [act.params!, { tool: "x".repeat(2_000), context }],
    [operate.params!, { request, credential: { kind: "terminal", turnId: "t" } }],
    [operate.params!, { credential: { kind: "token" } }],
    [local_user.params!, { remote: { address: "x", port: "1" }, local: {} }],
    [extract.params!, {}],
  ];
  for (const [check, value] of wrong) {
    let isRefused = false;
    try {
      check(value);
    } catch {
      isRefused = true;
    }
    assertEquals(isRefused, true, JSON.stringify(value).slice(0, 100));
  }
});
