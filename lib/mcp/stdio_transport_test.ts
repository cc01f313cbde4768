import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { McpClient } from "./mcp_client.ts";
import { StdioTransport } from "./stdio_transport.ts";

const PING = { jsonrpc: "2.0" as const, id: 1, method: "ping" };

function shell(script: string) {
  return { command: ["/bin/sh", "-c", script], cwd: "/", env: {}, passEnv: [] };
}

/** A transport to a program that has closed its input and said so. */
async function deafServer(then: string): Promise<StdioTransport> {
  const transport = new StdioTransport(
    shell(`exec 0<&-; echo '{"jsonrpc":"2.0","method":"deaf"}'; ${then}`),
  );
  const isDeaf = Promise.withResolvers<unknown>();
  transport.onmessage = isDeaf.resolve;
  await transport.start();
  await isDeaf.promise;
  return transport;
}

Deno.test("send() says how a server ended that takes nothing any more, and not that a pipe broke", async () => {
  const transport = await deafServer("echo 'no key' >&2; exit 3");
  await assertRejects(() => transport.send(PING), Error, "it ended with code 3");
  assertEquals(transport.lastWords, "no key");
});

Deno.test("send() ends a server that has closed its input and lives on", async () => {
  const transport = await deafServer("exec sleep 1000");
  const closed = Promise.withResolvers<void>();
  transport.onclose = closed.resolve;
  await assertRejects(() => transport.send(PING), Error, "it has closed its standard input");
  await closed.promise;
});

Deno.test("connect() tells of a program that is no server how it ended, or what it answers", async () => {
  const connect = async (script: string) => {
    const transport = { kind: "stdio" as const, ...shell(script) };
    const client = { name: "test", version: "1" };
    const start = { transport, client, roots: [], timeoutMs: 10_000, callTimeoutMs: 10_000 };
    const events = { onChanged() {}, onBroken() {} };
    return (await assertRejects(() => McpClient.connect(start, events), Error)).message;
  };
  assertEquals(
    await connect("echo 'cannot find my key' >&2; exit 3"),
    "it ended with code 3; it said: cannot find my key",
  );
  assertEquals(await connect("exit 0"), "it ended with code 0");
  assertStringIncludes(await connect("exec cat"), "it answers the greeting with an error: ");
});
