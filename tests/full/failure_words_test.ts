/** A turn that fails says what happened and what to check, wherever it is read. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "../support/home.ts";
import { transcript, WireSocket } from "../support/wire_socket.ts";

/** What somebody is told of a failure. */
interface Told {
  code: string;
  text: string;
}

async function overHttp({ apiUrl }: Running): Promise<Told> {
  const response = await fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
  });
  const { error } = await response.json();
  return { code: error.code, text: error.message };
}

async function overWebSocket({ wsUrl }: Running): Promise<Told> {
  using socket = await WireSocket.open(wsUrl);
  socket.send({ type: "message", chat_id: socket.chatId, content: "hi" });
  const { code = "", detail } = await socket.next("error");
  return { code, text: detail };
}

async function inTheTerminal(home: TestHome): Promise<Told> {
  const { stderr } = await home.run(["agent", "-m", "hi", "--no-stdin"]);
  const { stdout } = await home.run(["agent", "-m", "hi", "--no-stdin", "--json"]);
  const { error } = JSON.parse(stdout);
  assertStringIncludes(stderr, error.message);
  return { code: error.code, text: error.message };
}

/** The same everywhere. */
async function told(home: TestHome, gateway: Running): Promise<Told> {
  const all = [await overHttp(gateway), await overWebSocket(gateway), await inTheTerminal(home)];
  for (const one of all) assertEquals(one, all[0]);
  return all[0]!;
}

const PAGES = {
  "a web page": ["text/html", "<!doctype html><title>Welcome to nginx!</title><h1>Hello</h1>"],
  "JSON": ["application/json", '{"detail":"No such route"}'],
  "text": ["text/plain", "Ollama is running"],
};

Deno.test("a model's base URL at which there is no model: every reader is told to check it", async (test) => {
  let [type, body] = PAGES.text;
  await using page = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(body, { headers: { "content-type": type! } }),
  );
  const baseUrl = `http://127.0.0.1:${page.addr.port}/oops`;
  await using home = await makeHome({
    agent: { model: "local/m" },
    api: { enabled: true, port: 0 },
    providers: { local: { baseUrl } },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  for (const [what, found] of Object.entries(PAGES)) {
    await test.step(what, async () => {
      [type, body] = found;
      const { code, text } = await told(home, gateway);
      assertEquals(code, "provider_unreachable");
      for (const part of [what, "check providers.local.baseUrl", `${baseUrl}/chat/completions`]) {
        assertStringIncludes(text, part);
      }
      const own = /Welcome to nginx!|No such route|Ollama is running/.exec(body!)![0];
      assertStringIncludes(text, own);
    });
  }
});

Deno.test("a model that answers nothing: every reader gets the code empty_answer", async () => {
  await using model = startModelServer({ script: () => ({ text: [] }) });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    api: { enabled: true, port: 0 },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  const { code, text } = await told(home, gateway);
  assertEquals(code, "empty_answer");
  assertStringIncludes(text, "local/fake");
  assertStringIncludes(text, "another model");
});

Deno.test("a turn whose service crashed twice says so, over the WebSocket and HTTP alike", async () => {
  await using model = startModelServer({ script: { hang: "headers" } });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    api: { enabled: true, port: 0 },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  let chat_id = "";
  let id = "";
  for (let start = 0; start < 2; start++) {
    await using gateway = await home.start(["gateway", "--json"]);
    if (start === 0) {
      using socket = await WireSocket.open(gateway.wsUrl);
      chat_id = socket.chatId;
      socket.send({ type: "message", chat_id, content: "hi" });
      await socket.next("message_accepted");
      const response = await fetch(`${gateway.apiUrl}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ input: "hi", background: true }),
      });
      id = (await response.json()).id;
    }
    for (const at of [0, 1]) await (await model.request(start * 2 + at)).hanging;
    await gateway.kill();
  }
  await using gateway = await home.start(["gateway", "--json"]);
  using socket = await WireSocket.open(gateway.wsUrl);
  socket.send({ type: "attach", chat_id, after_seq: 0 });
  const frame = await socket.next("error");
  const { error } = await (await fetch(`${gateway.apiUrl}/v1/responses/${id}`)).json();
  assertEquals([frame.code, error.service_code], ["turn_crashed", "turn_crashed"]);
  for (const text of [frame.detail, error.message]) {
    assertStringIncludes(text, "stopped unexpectedly in 2 runs");
    assertStringIncludes(text, "log");
  }
});

Deno.test("a model that is silent before its first byte is given up for the next of agent.fallbacks", async () => {
  await using stuck = startModelServer({ script: { hang: "headers" } });
  await using silent = startModelServer({ script: { text: "no", hang: 0 } });
  await using good = startModelServer({ script: { text: "third choice" } });
  await using home = await makeHome({
    agent: {
      model: "stuck/fake",
      fallbacks: ["silent/fake", "good/fake"],
      stallTimeoutS: 1,
    },
    api: { enabled: true, port: 0 },
    providers: {
      stuck: { baseUrl: stuck.baseUrl },
      silent: { baseUrl: silent.baseUrl },
      good: { baseUrl: good.baseUrl },
    },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  using socket = await WireSocket.open(gateway.wsUrl);
  socket.send({ type: "message", chat_id: socket.chatId, content: "hi" });
  assertEquals((await socket.next("turn_end")).status, "done");
  assertEquals(transcript(socket.frames, socket.chatId).texts, ["third choice"]);
  // Both connections were let go.
  await (await stuck.request(0)).closed;
  await (await silent.request(0)).closed;
});
