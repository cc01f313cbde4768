import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type FakeClock, fakeClock } from "../agent/testing/fake_clock.ts";
import { configSchema } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import type { AuditLog } from "../audit/log.ts";
import { createMcpServers, type McpServersOptions } from "./create_mcp_servers.ts";
import type { McpConnection, McpConnectionEvents } from "./mcp_connection.ts";

const CALL = { signal: new AbortController().signal, onProgress: () => {} };

/** A connection that a test lets answer. */
interface FakeConnection extends McpConnection {
  events: McpConnectionEvents;
  tools: string[];
  lists: number;
  end(reason: string): void;
}

/** Servers over connections that tests hold in their hands. */
function setUp(names: string[], more: Partial<McpServersOptions> = {}) {
  const clock: FakeClock = fakeClock();
  const records: { kind: string; data: Record<string, unknown> }[] = [];
  const opening: { name: string; open(): FakeConnection; fail(reason: string): void }[] = [];
  let asked = Promise.withResolvers<void>();
  const { mcp } = configSchema.parse({
    mcp: { servers: Object.fromEntries(names.map((name) => [name, { command: ["x"] }])) },
  });
  const note = () => {};
  const unused = () => Promise.reject(new Error("not used"));
  const servers = createMcpServers({
    servers: mcp.servers,
    maxOutputBytes: 1_000,
    workspace: { path: "/w", real: "/w" },
    executor: { open: unused, run: unused },
    openSandboxed: unused,
    ensurePackages: () => Promise.resolve(),
    privateHosts: [],
    version: "0",
    catalog: { read: () => undefined, write: () => Promise.resolve() },
    scrub: (text) => text,
    audit: {
      digest: (text: string) => text,
      append: (kind: string, data: Record<string, unknown>) => {
        records.push({ kind, data });
        return Promise.resolve({});
      },
    } as unknown as AuditLog,
    log: { debug: note, info: note, warning: note, error: note },
    clock,
    connect(name, events, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<McpConnection>();
      const ended = Promise.withResolvers<string>();
      signal.addEventListener("abort", () => reject(signal.reason));
      opening.push({
        name,
        fail: (reason) => reject(new Error(reason)),
        open() {
          const connection: FakeConnection = {
            events,
            tools: ["echo"],
            lists: 0,
            end: ended.resolve,
            list() {
              this.lists += 1;
              const tools = this.tools.map((name) => ({ name, inputSchema: { type: "object" } }));
              return Promise.resolve({
                about: name,
                tools,
                resources: [],
                prompts: [],
                problems: [],
              });
            },
            call: ({ tool }) => Promise.resolve({ failed: false, output: `${name}/${tool}` }),
            ping: () => Promise.resolve(),
            ended: ended.promise,
            close: (why = "it was closed") => {
              ended.resolve(why);
              return Promise.resolve();
            },
          };
          resolve(connection);
          return connection;
        },
      });
      asked.resolve();
      asked = Promise.withResolvers();
      return promise;
    },
    ...more,
  });
  /** Lets everything happen that waits for nothing but this. */
  const settle = async () => {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  };
  return { servers, clock, opening, records, settle };
}

Deno.test("tools() waits 5 s for servers that were never seen, together, and for nobody twice", async () => {
  const { servers, clock, opening, settle } = setUp(["fast", "slow", "mute"]);
  let told: readonly { server: string }[] | undefined;
  void servers.tools().then((tools) => told = tools);
  await settle();
  assertEquals(opening.map(({ name }) => name), ["fast", "slow", "mute"]);
  opening[0]!.open();
  await settle();
  clock.tick(4_999);
  await settle();
  assertEquals(told, undefined);
  // Another turn that begins meanwhile waits no longer than the first.
  let second: readonly unknown[] | undefined;
  void servers.tools().then((tools) => second = tools);
  clock.tick(1);
  await settle();
  assertEquals(told?.map(({ server }) => server), ["fast"]);
  assertEquals(second?.length, 1);
  assertEquals((await servers.tools()).length, 1);
  assertEquals(servers.status().map(({ state }) => state), [
    "connected",
    "connecting",
    "connecting",
  ]);
  // One that comes late is there for the next turn.
  opening[1]!.open();
  await settle();
  assertEquals((await servers.tools()).map(({ server }) => server), ["fast", "slow"]);
  assertEquals(opening.length, 3);
});

Deno.test("tools() tells of 512 at most, and says so once", async () => {
  const warnings: string[] = [];
  const note = () => {};
  const log = {
    debug: note,
    info: note,
    error: note,
    warning: (text: string) => void warnings.push(text),
  };
  const { servers, opening, settle } = setUp(["a", "b", "c", "d", "e"], { log });
  const asking = servers.tools();
  await settle();
  for (const one of opening) {
    one.open().tools = Array.from({ length: 110 }, (_, at) => `t${at}`);
  }
  for (const tools of [await asking, await servers.tools(), await servers.tools()]) {
    assertEquals(tools.length, 512);
  }
  assertEquals(warnings, ["MCP servers offer more tools than a model is told of"]);
});

Deno.test("tools() goes on at once when every server is there or has failed", async () => {
  const { servers, opening, clock, settle } = setUp(["one", "two"]);
  const asking = servers.tools();
  await settle();
  opening[0]!.open();
  opening[1]!.fail("no such program");
  assertEquals((await asking).map(({ server }) => server), ["one"]);
  assertEquals(clock.timers(), 0);
  assertStringIncludes(servers.status()[1]!.detail, "no such program; next try in 1 s");
});

Deno.test("a server that fails is tried again after 1, 2, 4 s, by whoever needs it then", async () => {
  const { servers, opening, clock, settle } = setUp(["one"]);
  const asking = servers.tools();
  await settle();
  opening[0]!.fail("broken");
  await asking;
  for (const waitMs of [1_000, 2_000, 4_000]) {
    const before = opening.length;
    clock.tick(waitMs - 1);
    await servers.tools();
    assertEquals(opening.length, before, "too early");
    clock.tick(1);
    await servers.tools();
    assertEquals(opening.length, before + 1);
    opening.at(-1)!.fail("broken");
    await settle();
  }
});

Deno.test("a server that dies in every call waits longer each time, and not any more once it worked", async () => {
  const { servers, opening, clock, settle } = setUp(["one"]);
  const asking = servers.tools();
  await settle();
  let connection = opening[0]!.open();
  const [echo] = await asking;
  for (const waitMs of [1_000, 2_000, 4_000]) {
    connection.end("it ended with code 1");
    await settle();
    const early = await servers.call(echo!, {}, CALL);
    assert(early.type === "fault" && early.message.includes(`next try in ${waitMs / 1_000} s`));
    clock.tick(waitMs);
    const call = servers.call(echo!, {}, CALL);
    await settle();
    connection = opening.at(-1)!.open();
    if (waitMs < 4_000) connection.call = () => Promise.reject(new Error("dead"));
    await call;
  }
  connection.end("once more");
  await settle();
  assertStringIncludes(servers.status()[0]!.detail, "next try in 1 s");
  assertEquals(servers.status()[0]!.restarts, 3);
});

Deno.test("many notices of changes make few questions, and the last one is answered", async () => {
  const { servers, opening, clock, records, settle } = setUp(["one"]);
  const asking = servers.tools();
  await settle();
  const connection = opening[0]!.open();
  await asking;
  for (let at = 0; at < 1_000; at++) connection.events.onChanged();
  await settle();
  connection.tools = ["echo", "more"];
  connection.events.onChanged();
  for (let second = 0; second < 5; second++) {
    clock.tick(1_000);
    await settle();
  }
  assertEquals(connection.lists, 3);
  assertEquals((await servers.tools()).map(({ tool }) => tool), ["echo", "more"]);
  assertEquals(records, [{
    kind: "mcp.tools_changed",
    data: { server: "one", added: ["more"], removed: [], changed: [] },
  }]);
});

Deno.test("a server that says without end that its list changes is asked less and less often", async () => {
  const { servers, opening, clock, settle } = setUp(["one"]);
  const asking = servers.tools();
  await settle();
  const connection = opening[0]!.open();
  await asking;
  const asked: number[] = [];
  for (let second = 0; second < 200; second++) {
    const before = connection.lists;
    connection.events.onChanged();
    await settle();
    if (connection.lists > before) asked.push(second);
    clock.tick(1_000);
    await settle();
  }
  assert(asked.length + 1 < 12, `${asked}`);
  assert(connection.lists < 12, `${connection.lists}`);
});

Deno.test("test() connects anew although the server is connected, and counts that as no failure", async () => {
  const { servers, opening, settle } = setUp(["one"]);
  const asking = servers.tools();
  await settle();
  const first = opening[0]!.open();
  await asking;
  const testing = servers.test("one");
  await settle();
  opening[1]!.open();
  assertEquals((await testing).state, "connected");
  assertEquals(await first.ended, "it was closed");
  assertEquals([servers.status()[0]!.state, servers.status()[0]!.restarts], ["connected", 1]);
});

Deno.test("G15 a change that cannot be recorded is not taken over", async () => {
  const failing = {
    digest: (text: string) => text,
    append: () => Promise.reject(new ServiceError("audit_unavailable", "the disk is full")),
  } as unknown as AuditLog;
  const { servers, opening, settle } = setUp(["one"], { audit: failing });
  const asking = servers.tools();
  await settle();
  const connection = opening[0]!.open();
  await asking;
  connection.tools = ["echo", "more"];
  connection.events.onChanged();
  await settle();
  assertEquals(servers.find("mcp__one__more"), undefined);
});

Deno.test("a call ends with its turn while the server is still being connected", async () => {
  const { servers, opening, clock, settle } = setUp(["one"]);
  const asking = servers.tools();
  await settle();
  const first = opening[0]!.open();
  const [echo] = await asking;
  first.end("gone");
  await settle();
  clock.tick(1_000);
  const turn = new AbortController();
  const call = servers.call(echo!, {}, { ...CALL, signal: turn.signal });
  const reason = new Error("the turn ended");
  turn.abort(reason);
  assertEquals(await call.catch((error) => error), reason);
  await settle();
  opening[1]!.open();
  await settle();
  assertEquals(servers.status()[0]!.state, "connected");
});

Deno.test("test() names the servers that there are", async () => {
  const { servers } = setUp(["one", "two"]);
  const error = await assertRejects(() => servers.test("three"), ServiceError);
  assertEquals(error.code, "not_found");
  assertStringIncludes(error.message, "one, two");
});

Deno.test("shutdown() ends what is connected or about to be, and nothing is started after it", async () => {
  const { servers, opening, clock, settle } = setUp(["one", "mute", "silent"]);
  const asking = servers.tools();
  await settle();
  const connection = opening[0]!.open();
  const silent = opening[2]!.open();
  silent.list = () => silent.ended.then((reason) => Promise.reject(new Error(reason)));
  await settle();
  clock.tick(5_000);
  const [echo] = await asking;
  await servers.shutdown();
  assertEquals(await silent.ended, "it was closed");
  assertEquals(await connection.ended, "it was closed");
  const outcome = await servers.call(echo!, {}, CALL);
  assert(outcome.type === "fault" && outcome.message.includes("stopping"));
  assertEquals(opening.length, 3);
});

Deno.test("what a server offers is kept for the next start, unless a secret stands in it", async () => {
  const kept: unknown[] = [];
  const { servers, opening, settle } = setUp(["one"], {
    scrub: (text) => text.replaceAll("s3cret-value", "[secret X]"),
    catalog: {
      read: () => undefined,
      write: (server, _digest, { tools }) => {
        kept.push([server, tools.length]);
        return Promise.resolve();
      },
    },
  });
  const told = servers.tools();
  const connection = opening[0]!.open();
  await told;
  assertEquals(kept, [["one", 1]]);
  const { list } = connection;
  connection.list = async () => {
    const listed = await list.call(connection);
    return {
      ...listed,
      tools: [{ name: "echo", description: "as s3cret-value", inputSchema: { type: "object" } }],
    };
  };
  connection.events.onChanged();
  await settle();
  assertEquals((await servers.tools())[0]!.description, "as [secret X]");
  assertEquals(kept.length, 1, "on no disk");
  await servers.shutdown();
});
