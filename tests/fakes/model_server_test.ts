import { assert, assertEquals, assertRejects } from "@std/assert";
import { startFastModelServer } from "./fast_model_server.ts";
import { startModelServer } from "./model_server.ts";

function post(baseUrl: string, path: string, body: object, signal?: AbortSignal) {
  return fetch(`${baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", ...body }),
    signal,
  });
}

const PATHS = ["/chat/completions", "/messages", "/responses"];

Deno.test("startModelServer() follows its script, and then repeats the last of it", async () => {
  await using server = startModelServer({
    script: [{ status: 503, retryAfter: "2", error: "busy" }, { text: "done" }],
  });
  const first = await post(server.baseUrl, "/chat/completions", {});
  assertEquals([first.status, first.headers.get("retry-after")], [503, "2"]);
  assertEquals((await first.json()).error.message, "busy");
  for (let time = 0; time < 2; time++) {
    const next = await (await post(server.baseUrl, "/chat/completions", {})).json();
    assertEquals(next.choices[0].message.content, "done");
  }
  assertEquals(server.requests.map(({ index, aborted }) => [index, aborted]), [
    [0, false],
    [1, false],
    [2, false],
  ]);
});

Deno.test("startModelServer() answers by what it was asked, and shows it", async () => {
  await using server = startModelServer({
    script: ({ body }) => ({ text: `${body.messages.length} messages` }),
  });
  const answer = await post(server.baseUrl, "/chat/completions", { messages: [1, 2] });
  assertEquals((await answer.json()).choices[0].message.content, "2 messages");
  const request = await server.request(0);
  assertEquals(request.path, "/v1/chat/completions");
  assertEquals(request.headers.get("content-type"), "application/json");
});

Deno.test("startModelServer() streams events of each wire", async () => {
  await using server = startModelServer({ script: { text: ["a", "b"], chunkBytes: 7 } });
  for (const path of PATHS) {
    const response = await post(server.baseUrl, path, { stream: true });
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    const text = await response.text();
    for (const event of text.split("\n\n").filter((event) => event !== "")) {
      const data = event.split("\n").at(-1)!.slice("data: ".length);
      if (data !== "[DONE]") JSON.parse(data);
    }
    assert(text.includes('"a"') && text.includes('"b"'), path);
  }
});

Deno.test("startModelServer() breaks and ends its stream where it is told to", async () => {
  await using server = startModelServer({ script: [{ resetAfter: 1 }, { endAfter: 1 }] });
  const broken = await post(server.baseUrl, "/chat/completions", { stream: true });
  await assertRejects(() => broken.text(), TypeError);
  const ended = await post(server.baseUrl, "/chat/completions", { stream: true });
  assert(!(await ended.text()).includes("[DONE]"));
  assertEquals(server.requests.map(({ aborted }) => aborted), [false, false]);
});

Deno.test("startModelServer() sees a client leave, before the status line and after", async () => {
  await using server = startModelServer({ script: [{ hang: "headers" }, { hang: 1 }] });
  const padding = "x".repeat(10_000);
  for (const index of [0, 1]) {
    const abort = new AbortController();
    const answer = post(
      server.baseUrl,
      "/chat/completions",
      { stream: true, padding },
      abort.signal,
    )
      .then((response) => response.text()).catch(() => "left");
    const request = await server.request(index);
    await request.hanging;
    assertEquals(request.aborted, false);
    abort.abort();
    assertEquals(await answer, "left");
    await request.closed;
    assertEquals(request.aborted, true);
  }
});

Deno.test("startModelServer() lists a model, and knows no other path", async () => {
  await using server = startModelServer();
  const models = await (await fetch(`${server.baseUrl}/models`)).json();
  assertEquals(models.data.length, 1);
  assertEquals((await post(server.baseUrl, "/embeddings", {})).status, 404);
});

Deno.test("startFastModelServer() gives the same bytes as the scripted one", async () => {
  await using server = startModelServer({ script: { text: ["a", "b"] } });
  const fast = startFastModelServer({ text: ["a", "b"] });
  for (const path of PATHS) {
    for (
      const body of [{}, { stream: true }, {
        stream: true,
        stream_options: { include_usage: true },
      }]
    ) {
      const [one, other] = await Promise.all(
        [server, fast].map(async ({ baseUrl }) => await (await post(baseUrl, path, body)).text()),
      );
      assertEquals(one, other);
    }
  }
  await fast.close();
});
