/** Approvals of a chat over a real gateway. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { makeHome } from "./support/home.ts";
import { bootstrap, httpOf, WireSocket } from "./support/wire_socket.ts";

/** The offline model calls the tool with that; a message to another chat asks. */
const asks = (chat_id: string) =>
  `/tool message ${JSON.stringify({ channel: "telegram", chat_id, content: "hello" })}`;

async function open() {
  const home = await makeHome({});
  const gateway = await home.start(["gateway", "--json"]);
  const { api_token } = await bootstrap(gateway.wsUrl);
  return {
    gateway,
    async call(method: string, path: string, body?: unknown) {
      const response = await fetch(new URL(`/api/webui${path}`, httpOf(gateway.wsUrl)), {
        method,
        headers: { authorization: `Bearer ${api_token}`, "content-type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return { status: response.status, json: await response.json() };
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

Deno.test("G5 G12 an action of a chat waits for a token: all who follow see it asked and answered, and the chat cannot answer itself", async () => {
  await using port = await open();
  using socket = await WireSocket.open(port.gateway.wsUrl);
  using other = await WireSocket.open(port.gateway.wsUrl);
  const { chatId } = socket;
  other.send({ type: "attach", chat_id: chatId });
  await other.next("attached");
  socket.send(asks("1"));
  const asked = await socket.next("approval_requested");
  assertEquals(await other.next("approval_requested"), asked);
  const { id, digest, target } = asked.approval;
  assertEquals(target, "telegram:1");

  // A client names itself, so what stands in the chat proves nothing.
  socket.send(`/approve ${id} ${digest.slice(0, 8)}`);
  const { text, seq } = await socket.next("message");
  assertStringIncludes(text, "does not prove who writes");
  assertEquals(seq, undefined);
  const wrong = await port.call("POST", `/approvals/${id}/approve`, { digest: "0".repeat(64) });
  assertEquals([wrong.status, wrong.json.error.code], [409, "approval_mismatch"]);
  const { json: { approvals } } = await port.call("GET", "/approvals");
  const { created_at, expires_at } = asked.approval;
  const row = { id, digest, capability: "message.send", target };
  assertEquals(approvals, [{ ...row, session: `websocket:${chatId}`, created_at, expires_at }]);

  assertEquals((await port.call("POST", `/approvals/${id}/approve`, { digest })).status, 200);
  const resolved = await socket.next("approval_resolved");
  assertEquals([resolved.approval_id, resolved.outcome], [id, "approved"]);
  assertEquals(await other.next("approval_resolved"), resolved);
  assertEquals((await socket.next("turn_end")).status, "done");
  const again = await port.call("POST", `/approvals/${id}/approve`, { digest });
  assertEquals([again.status, again.json.error.code], [409, "approval_answered"]);
  const { json: { messages } } = await port.call("GET", `/sessions/websocket:${chatId}/messages`);
  assertEquals(JSON.stringify(messages).includes("/approve"), false);
});

Deno.test("G9 a denial reaches the turn, holds in its chat until it is cleared, and in no other", async () => {
  await using port = await open();
  using socket = await WireSocket.open(port.gateway.wsUrl);
  const { chatId } = socket;
  const said = (from: number) =>
    socket.frames.slice(from).map((frame) => frame.event === "delta" ? frame.text : "").join("");
  socket.send(asks("1"));
  const { approval: { id } } = await socket.next("approval_requested");
  assertEquals(
    (await port.call("POST", `/approvals/${id}/deny`, { reason: "not on sundays" })).status,
    200,
  );
  assertEquals((await socket.next("approval_resolved")).outcome, "denied");
  await socket.next("turn_end");
  assertStringIncludes(said(0), "not on sundays");

  const latched = socket.frames.length;
  socket.send(asks("2"));
  await socket.next("turn_end", undefined, latched);
  assertEquals(socket.find("approval_requested", undefined, latched), undefined);
  assertStringIncludes(said(latched), "latched");
  using stranger = await WireSocket.open(port.gateway.wsUrl);
  stranger.send(asks("3"));
  await stranger.next("approval_requested");

  const latch = `/latches/websocket:${chatId}/message.send`;
  assertEquals((await port.call("DELETE", latch)).status, 200);
  assertEquals((await port.call("DELETE", latch)).status, 404);
  const cleared = socket.frames.length;
  socket.send(asks("4"));
  await socket.next("approval_requested", undefined, cleared);
  socket.send({ type: "cancel", chat_id: chatId });
  assertEquals((await socket.next("turn_end", undefined, cleared)).status, "cancelled");
  const { json: { approvals } } = await port.call("GET", "/approvals");
  assertEquals(approvals.map(({ target }: { target: string }) => target), ["telegram:3"]);
});
