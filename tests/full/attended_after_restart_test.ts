/** Who counts as there for a turn that a crash cut off. */

import { assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { WireSocket } from "../support/wire_socket.ts";

const WRITES = { calls: [{ tool: "write_file", args: { path: "a.txt", content: "hi" } }] };

/** A gateway's configuration over the model. */
function configOver(model: { baseUrl: string }) {
  return { agent: { model: "local/fake" }, providers: { local: { baseUrl: model.baseUrl } } };
}

/** What the last request told the model of its call. */
function resultIn(body: { messages: { role: string; content?: string }[] }): string {
  const content = body.messages.findLast(({ role }) => role === "tool")!.content!;
  return content.startsWith("Refused") ? "refused" : "done";
}

Deno.test("kill -9, and the client resumes its chat: the turn and the one behind it use tools as before", async () => {
  await using model = startModelServer({
    script: [{ hang: "headers" }, WRITES, { text: "one" }, WRITES, { text: "two" }],
  });
  await using home = await makeHome(configOver(model));
  const first = await home.start(["gateway", "--json"]);
  const socket = await WireSocket.open(first.wsUrl);
  const chat_id = socket.chatId;
  socket.send({ type: "message", chat_id, content: "write", client_msg_id: "1" });
  socket.send({ type: "message", chat_id, content: "write again", client_msg_id: "2" });
  await socket.next("message_accepted", ({ client_msg_id }) => client_msg_id === "2");
  await (await model.request(0)).hanging;
  await first.kill();

  await using second = await home.start(["gateway", "--json"]);
  // The model has called its tool before anybody could be back.
  await model.request(1);
  using again = await WireSocket.open(second.wsUrl);
  again.send({ type: "attach", chat_id, after_seq: 0 });
  const results = [
    resultIn((await model.request(2)).body),
    resultIn((await model.request(4)).body),
  ];
  assertEquals(results, ["done", "done"]);
  assertEquals((await again.next("turn_end")).status, "done");
});

Deno.test("kill -9, and the caller of a background response reads on: its tools run as before", async () => {
  await using model = startModelServer({
    script: [{ hang: "headers" }, WRITES, { text: "done" }],
  });
  await using home = await makeHome(configOver(model));
  const first = await home.start();
  const opened = await fetch(`${first.apiUrl}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input: "write", background: true, stream: true }),
  });
  const reader = opened.body!.pipeThrough(new TextDecoderStream()).getReader();
  const id = /"id":"(resp_[^"]+)"/.exec((await reader.read()).value!)![1];
  await (await model.request(0)).hanging;
  await first.kill();
  await reader.read().catch(() => {});

  await using second = await home.start();
  const url = `${second.apiUrl}/v1/responses/${id}?stream=true`;
  const events = await (await fetch(url)).text();
  assertEquals(resultIn((await model.request(2)).body), "done");
  assertEquals(events.includes("response.completed"), true);
});
