import OpenAI from "openai";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Behaviour, type RecordedRequest, startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { statusOf, until, untilIdle } from "./support/process_facts.ts";

const TEXT = Array.from({ length: 40 }, (_, index) => `word${index} `);

const configFor = (baseUrl: string, api = {}) => ({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl } },
  api,
});

interface Repeatable {
  key: string;
  content?: string;
  session_id?: string;
  stream?: boolean;
  signal?: AbortSignal;
  authorization?: string;
}

function ask(apiUrl: string, { key, signal, authorization, ...asked }: Repeatable) {
  const { content = "hi", session_id = "s", stream } = asked;
  return fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    signal,
    headers: {
      "content-type": "application/json",
      "idempotency-key": key,
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: JSON.stringify({ messages: [{ role: "user", content }], session_id, stream }),
  });
}

async function answerOf(response: Response): Promise<[status: number, id: string, text: string]> {
  const body = await response.json();
  return [response.status, body.id, body.choices?.[0].message.content ?? body.error.code];
}

/** Text of a streamed answer, which must be whole. */
function textOf(body: string): string {
  assert(body.endsWith("data: [DONE]\n\n"), body.slice(-200));
  const chunks = body.split("\n\n").filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)));
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

/** Reads a stream until a text has come, then goes away. */
async function readAndLeave(apiUrl: string, asked: Repeatable, until: string): Promise<void> {
  const leaving = new AbortController();
  const response = await ask(apiUrl, { ...asked, signal: leaving.signal });
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes(until)) break;
  }
  leaving.abort();
}

Deno.test("W2 a request that is repeated at once, after its end, and after a restart has one turn", async () => {
  const release = Promise.withResolvers<void>();
  await using model = startModelServer({
    script: async ({ index }) => {
      if (index === 0) await release.promise;
      return { text: `answer ${index}` };
    },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  {
    await using service = await home.start();
    const together = [1, 2, 3].map(() => ask(service.apiUrl, { key: "k" }));
    await model.request(0);
    const late = ask(service.apiUrl, { key: "k" });
    release.resolve();
    const answers = await Promise.all([...together, late].map(async (one) => answerOf(await one)));
    assertEquals(new Set(answers.map(String)).size, 1);
    assertEquals(answers[0]!.toSpliced(1, 1), [200, "answer 0"]);
    assertEquals(await answerOf(await ask(service.apiUrl, { key: "k" })), answers[0]);

    const other = await answerOf(await ask(service.apiUrl, { key: "k", session_id: "other" }));
    assertEquals(other.toSpliced(1, 1), [200, "answer 1"], "a key belongs to its session");
    const next = await answerOf(await ask(service.apiUrl, { key: "k2" }));
    assertEquals(next.toSpliced(1, 1), [200, "answer 2"]);
    assertEquals(await service.stop(), 0);

    await using again = await home.start();
    assertEquals(await answerOf(await ask(again.apiUrl, { key: "k" })), answers[0]);
  }
  assertEquals(model.requests.length, 3);
});

Deno.test("a repeat of a stream gets the same bytes, while it runs and after its end", async () => {
  const goOn = Promise.withResolvers<void>();
  await using model = startModelServer({
    script: async () => {
      await goOn.promise;
      return { text: TEXT };
    },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const running = [1, 2].map(() => ask(service.apiUrl, { key: "k", stream: true }));
  await model.request(0);
  goOn.resolve();
  const live = await Promise.all(running.map(async (one) => await (await one).text()));
  const later = await (await ask(service.apiUrl, { key: "k", stream: true })).text();
  assertEquals(live, [later, later]);
  assertEquals(textOf(later), TEXT.join(""));
  assertEquals(model.requests.length, 1);
});

Deno.test("another body under a key is 409, which the openai package does not repeat", async () => {
  await using model = startModelServer({ script: { text: "once" } });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  await (await ask(service.apiUrl, { key: "k" })).body?.cancel();
  const conflict = await ask(service.apiUrl, { key: "k", content: "something else" });
  assertEquals(conflict.headers.get("x-should-retry"), "false");
  assertEquals(conflict.status, 409);
  const { error } = await conflict.json();
  assertEquals([error.type, error.code], ["conflict_error", "idempotency_key_reused"]);

  let sent = 0;
  const client = new OpenAI({
    baseURL: `${service.apiUrl}/v1`,
    apiKey: "-",
    fetch: (...args: Parameters<typeof fetch>) => (sent++, fetch(...args)),
  });
  await assertRejects(
    () =>
      client.chat.completions.create({
        model: "local/fake",
        messages: [{ role: "user", content: "a third" }],
        ...{ session_id: "s" },
      }, { headers: { "Idempotency-Key": "k" } }),
    OpenAI.ConflictError,
  );
  assertEquals([sent, model.requests.length], [1, 1]);
});

Deno.test("a key that is none is 400 and asks nobody", async () => {
  await using model = startModelServer();
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  for (const key of ["", "a b", "é", "x".repeat(256)]) {
    const refused = await ask(service.apiUrl, { key });
    assertEquals(refused.status, 400, key);
    assertEquals((await refused.json()).error.param, "Idempotency-Key");
  }
  assertEquals(model.requests.length, 0);
});

Deno.test("a client that leaves with a key and comes back gets the whole answer of the same turn", async () => {
  await using model = startModelServer({
    script: [{ text: TEXT, delayMs: 20 }, { text: "no" }],
  });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const asked = { key: "k", stream: true };
  await readAndLeave(service.apiUrl, asked, "word3 ");
  // Twice: a seat that was taken again is left again.
  await readAndLeave(service.apiUrl, asked, "word5 ");
  const whole = await (await ask(service.apiUrl, asked)).text();
  assertEquals(textOf(whole), TEXT.join(""));
  const request = await model.request(0);
  await request.closed;
  assertEquals([request.aborted, model.requests.length], [false, 1]);
  await untilIdle(home);
});

Deno.test("a client that leaves before its status line and comes back finds its turn", async () => {
  const hold = Promise.withResolvers<void>();
  await using model = startModelServer({
    script: async ({ index }): Promise<Behaviour> => {
      await hold.promise;
      return { text: `answer ${index}` };
    },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const leaving = new AbortController();
  const left = ask(service.apiUrl, { key: "k", signal: leaving.signal }).catch(({ name }) => name);
  const request = await model.request(0);
  leaving.abort();
  assertEquals(await left, "AbortError");
  await until(() => service.log().includes(" 499 "));
  const back = ask(service.apiUrl, { key: "k" });
  hold.resolve();
  assertEquals((await answerOf(await back))[2], "answer 0");
  assertEquals(request.aborted, false);
});

Deno.test("W1 a turn that kill -9 cut off is not run again for a repeat, which says what happened", async () => {
  await using model = startModelServer({
    script: ({ index }: RecordedRequest): Behaviour =>
      index === 0 ? { text: TEXT, hang: 5 } : { text: `answer ${index}` },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  {
    await using service = await home.start();
    const cut = ask(service.apiUrl, { key: "k", stream: true }).then((answer) => answer.text())
      .catch(() => "cut");
    await (await model.request(0)).hanging;
    await service.kill();
    await cut;
  }
  await using service = await home.start();
  for (let time = 0; time < 2; time++) {
    const repeat = await ask(service.apiUrl, { key: "k", stream: true });
    if (repeat.status === 200) {
      // Words came on record before the gateway heard of its launcher's end.
      const events = (await repeat.text()).trim().split("\n\n");
      assertEquals(
        JSON.parse(events.at(-1)!.slice("data: ".length)).error.code,
        "turn_interrupted",
      );
      continue;
    }
    assertEquals(repeat.status, 503);
    assertEquals(repeat.headers.get("x-should-retry"), "false");
    assertEquals((await repeat.json()).error.code, "turn_interrupted");
  }
  assertEquals(model.requests.length, 1);
  const next = await answerOf(await ask(service.apiUrl, { key: "k2" }));
  assertEquals(next.toSpliced(1, 1), [200, "answer 1"]);
});

Deno.test("the key of a turn that kill -9 caught before its start is free again, and of one that had begun is not", async () => {
  await using model = startModelServer({ script: [{ hang: "headers" }, { text: "second try" }] });
  await using home = await makeHome(configFor(model.baseUrl));
  const first = await home.start();
  const begun = ask(first.apiUrl, { key: "begun" }).then(answerOf, () => "broken off");
  await (await model.request(0)).hanging;
  const waiting = ask(first.apiUrl, { key: "waiting" }).then(answerOf, () => "broken off");
  await until(async () => (await statusOf(home)).turns.queued === 1);
  await first.kill();
  assertEquals(await Promise.all([begun, waiting]), ["broken off", "broken off"]);

  await using second = await home.start();
  const [again, cut] = [
    await answerOf(await ask(second.apiUrl, { key: "waiting" })),
    await answerOf(await ask(second.apiUrl, { key: "begun" })),
  ];
  assertEquals([again[0], again[2]], [200, "second try"]);
  assertEquals([cut[0], cut[2]], [503, "turn_interrupted"]);
  // And from then on it is kept as any other.
  assertEquals(await answerOf(await ask(second.apiUrl, { key: "waiting" })), again);
  assertEquals(model.requests.length, 2);
});

Deno.test("a repeat of a failed turn gets its failure, and the model is not asked again", async () => {
  await using model = startModelServer({ script: [{ status: 400, error: "no" }, { text: "yes" }] });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  for (let time = 0; time < 2; time++) {
    const failed = await ask(service.apiUrl, { key: "k" });
    assertEquals([failed.status, (await failed.json()).error.code], [502, "provider_error"]);
    assertEquals(failed.headers.get("x-should-retry"), "false");
  }
  assertEquals(model.requests.length, 1);
});

Deno.test("a key is nothing to someone who may not use it", async () => {
  await using model = startModelServer({ script: { text: "once" } });
  await using home = await makeHome(configFor(model.baseUrl, { apiKey: "a-key-of-some-length" }));
  await using service = await home.start();
  const authorization = "Bearer a-key-of-some-length";
  const [, , text] = await answerOf(await ask(service.apiUrl, { key: "k", authorization }));
  assertEquals(text, "once");
  const stranger = await ask(service.apiUrl, { key: "k" });
  assertEquals(stranger.status, 401);
  assertStringIncludes(await stranger.text(), "invalid_api_key");
});
