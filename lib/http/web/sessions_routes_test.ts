import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import type { UserPart } from "../../contract/messages.ts";
import { chatSessionKey } from "../../contract/chat_session.ts";
import { openJournal } from "../../journal/open.ts";
import { begin, ending, hash, newTurn } from "../../journal/testing/steps.ts";
import type { Journal } from "../../contract/journal.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import { SESSIONS } from "../../operations/sessions.ts";
import { gatewayRoutes } from "./operation_routes.ts";
import { createTestWebApp, refusal, TOKENS } from "./testing/test_web_app.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const ANN = TOKENS.person!.workspaceKey!;
const BOB = TOKENS.other!.workspaceKey!;
const PATH = "/api/webui/sessions";
const SECRET = "s3cret-of-the-test";

const keyOf = (chatId: string, workspaceKey?: string) => chatSessionKey({ chatId, workspaceKey });

/** The routes over a journal in memory. */
function setUp({ journal = openJournal({ path: ":memory:" }), showReasoning = false } = {}) {
  const running = new Set<string>();
  const reads = { turns: 0, history: 0 };
  const scrub = (text: string) => text.replaceAll(SECRET, "[secret S]");
  let made = 0;
  const parts = someParts({
    journal: {
      ...journal,
      turns: (...given) => (reads.turns++, journal.turns(...given)),
      history: (...given) => (reads.history++, journal.history(...given)),
    },
    isRunning: (key) => running.has(key),
    openTurns: () => [],
    maxContextTokens: () => 100_000,
    files: {
      dir: "/media-dir",
      sign: (path, name) =>
        path.startsWith("/media-dir/") ? `/signed${path}?name=${name}` : undefined,
    },
    showReasoning: () => showReasoning,
    randomId: () => `made${++made}`,
  });
  const web = createTestWebApp(gatewayRoutes(SESSIONS, {
    ...parts,
    scrubber: { value: (value) => value && JSON.parse(scrub(JSON.stringify(value))) },
  }));
  const get = async (path: string, token = "operate") => {
    const response = await web.ask(`${PATH}${path}`, { token });
    return { status: response.status, json: await response.json() };
  };
  const send = async (method: string, path: string, body?: unknown, token = "operate") => {
    const response = await web.ask(`${PATH}${path}`, { method, token, body });
    return { status: response.status, json: await response.json() };
  };
  return { ...web, journal, running, reads, get, send };
}

/** A turn that has ended: something was asked, and answered. */
async function say(
  journal: Journal,
  sessionKey: string,
  id: string,
  input: UserPart[] = [{ type: "text", text: `input of ${id}` }],
): Promise<void> {
  await begin(journal, id, { sessionKey, channel: sessionKey.split(":")[0], input });
  await journal.addMessage(id, { role: "assistant", text: `answer to ${id}`, calls: [] });
  await journal.end(id, ending());
}

Deno.test("GET sessions lists those of the caller's workspace alone, newest first", async () => {
  const { journal, running, get } = setUp();
  const keys = [keyOf("a"), keyOf("b", ANN), "api:default", keyOf("c", ANN), keyOf("d", BOB)];
  for (const [index, key] of keys.entries()) await say(journal, key, `t${index}`);
  await journal.setModelPreset(keys[3]!, "fast");
  running.add(keys[0]!);
  const listed = async (token: string) =>
    (await get("", token)).json.sessions.map(({ key }: { key: string }) => key);
  for (const token of ["operate", "read"]) assertEquals(await listed(token), [keys[2], keys[0]]);
  assertEquals(await listed("person"), [keys[3], keys[1]]);
  assertEquals(await listed("other"), [keys[4]]);

  const { json: { sessions: [api, chat] } } = await get("");
  assertEquals({ ...chat, created_at: 0, updated_at: 0 }, {
    key: "websocket:a",
    chat_id: "a",
    channel: "websocket",
    title: "input of t0",
    model_preset: null,
    created_at: 0,
    updated_at: 0,
    turns: 1,
    last_seq: 2,
    running: true,
  });
  assert(Math.abs(chat.created_at - Date.now() / 1000) < 3_600);
  assertEquals([api.channel, "chat_id" in api, api.running], ["api", false, false]);
  const { json: { sessions: [own] } } = await get("", "person");
  assertEquals([own.chat_id, own.model_preset], ["c", "fast"]);
  await journal.close();
});

Deno.test("GET sessions is paged: each session once, and the last page says that it is", async () => {
  const { journal, get } = setUp();
  for (let index = 0; index < 7; index++) await say(journal, keyOf(`c${index}`), `t${index}`);
  const seen: string[] = [];
  for (let query = "?limit=3";;) {
    const { json } = await get(query);
    seen.push(...json.sessions.map(({ chat_id }: { chat_id: string }) => chat_id));
    if (json.before === undefined) break;
    query = `?limit=3&before=${json.before}`;
  }
  assertEquals(seen, ["c6", "c5", "c4", "c3", "c2", "c1", "c0"]);
  assertEquals((await get("?before=0")).json, { sessions: [] });
  await journal.close();
});

Deno.test("GET search finds in the caller's workspace alone", async () => {
  const { journal, ask } = setUp();
  for (const [index, key] of [keyOf("a"), keyOf("b", ANN), keyOf("c", BOB)].entries()) {
    await say(journal, key, `t${index}`);
  }
  const found = async (q: string, token: string) => {
    const path = `/api/webui/search?q=${encodeURIComponent(q)}`;
    const json = await (await ask(path, { token })).json();
    return json.sessions.map(({ chat_id, count }: Record<string, unknown>) => [chat_id, count]);
  };
  assertEquals(await found("answer to", "read"), [["a", 1]]);
  assertEquals(await found("answer", "person"), [["b", 1]]);
  assertEquals(await found("t1", "other"), []);
  assertEquals(await found('"*" AND t2', "other"), []);
  const wrong = await ask("/api/webui/search?q=%22%00%F0%9F", { token: "operate" });
  assertEquals([wrong.status, (await wrong.json()).error.param], [400, "q"]);
  await journal.close();
});

Deno.test("GET sessions and messages name what is wrong with a page's parameters", async () => {
  const { journal, get } = setUp();
  await say(journal, keyOf("a"), "t");
  for (const path of ["", "/websocket:a/messages"]) {
    for (
      const [query, param] of [
        ["limit=0", "limit"],
        ["limit=101", "limit"],
        ["limit=1e1", "limit"],
        ["limit=", "limit"],
        ["limit=%ff", "limit"],
        ["limit=5&limit=6", "limit"],
        ["before=-1", "before"],
        ["before=1.5", "before"],
        ["before=abc", "before"],
        ["before=99999999999999999999", "before"],
        ["before=9999999999999999", "before"],
        ["before=0x10", "before"],
      ]
    ) {
      const { status, json } = await get(`${path}?${query}`);
      assertEquals([status, json.error.code, json.error.param], [400, "invalid_request", param]);
      assertMatch(json.error.message, new RegExp(`^${param} must be `));
    }
    assertEquals((await get(`${path}?__proto__=1&other=2`)).status, 200);
  }
  await journal.close();
});

Deno.test("a person can neither see nor touch the sessions of others, nor others theirs", async () => {
  const { journal, ask } = setUp();
  const owned = { operate: keyOf("a"), person: keyOf("a", ANN), other: keyOf("a", BOB) };
  for (const [token, key] of Object.entries(owned)) await say(journal, key, `of-${token}`);
  await say(journal, "api:default", "of-api");
  const requests: [method: string, path: string, body?: unknown][] = [
    ["GET", ""],
    ["GET", "/messages"],
    ["GET", "/export"],
    ["PUT", "/title", { title: "Taken" }],
    ["POST", "/fork", { before_user_index: 1 }],
    ["DELETE", ""],
  ];
  for (const [token, own] of Object.entries(owned)) {
    const foreign = [...Object.values(owned), "api:default"].filter((key) =>
      key !== own && !(token === "operate" && key === "api:default")
    );
    for (const key of [...foreign, keyOf("never")]) {
      for (const [method, path, body] of requests) {
        const response = await ask(`${PATH}/${key}${path}`, { method, token, body });
        const { error } = await response.json();
        // The same as for one that is not there.
        assertEquals([response.status, error], [404, {
          message: `There is no session "${key}"`,
          type: "not_found_error",
          param: "key",
          code: "not_found",
        }]);
      }
    }
  }
  for (const key of Object.values(owned)) {
    assertEquals(journal.session(key)?.title.startsWith("input of"), true, key);
  }
  assertEquals(journal.sessions({ limit: 10 }).length, 4);
  await journal.close();
});

Deno.test("hostile keys are those of no session", async () => {
  const { journal, ask } = setUp();
  await say(journal, keyOf("a"), "t");
  const keys = [
    "websocket%3Aa%2F",
    "websocket:a%00",
    "websocket%253Aa",
    "..%2F..",
    "__proto__",
    "constructor",
    "%ff",
    "%",
    `websocket:${"ab".repeat(16)}.a%2Fb`,
    "websocket:" + "x".repeat(8_000),
    "'%20OR%201=1%20--",
    `websocket:.a`,
  ];
  for (const key of keys) {
    for (const token of ["operate", "person"]) {
      for (const path of ["", "/messages", "/export"]) {
        const response = await ask(`${PATH}/${key}${path}`, { token });
        const text = await response.text();
        assertEquals(response.status, 404, `${key}${path}: ${text.slice(0, 300)}`);
        assert(text.length < 600);
      }
    }
  }
  // A whole key in percent-encoding is the key.
  assertEquals((await ask(`${PATH}/websocket%3Aa`, { token: "operate" })).status, 200);
  await journal.close();
});

Deno.test("GET messages shows whole messages with their places, files as signed links", async () => {
  const { journal, get } = setUp();
  const key = keyOf("a");
  const input: UserPart[] = [
    { type: "text", text: "look" },
    { type: "image", mediaType: "image/png", file: { sha256: hash("i"), bytes: 3 } },
    { type: "text", text: "and read" },
    {
      type: "document",
      name: "a b.txt",
      mediaType: "text/plain",
      file: { sha256: hash("d"), bytes: 5 },
      text: "hello",
    },
    { type: "image", mediaType: "image/gif", data: "AAAA" },
  ];
  await begin(journal, "one", { sessionKey: key, input });
  const call = { callId: "c1", tool: "read_file", args: { path: "x" } };
  await journal.addMessage("one", {
    role: "assistant",
    text: "",
    reasoning: "hm",
    calls: [call],
    replay: { opaque: 1 },
  });
  await journal.addMessage("one", {
    role: "tool",
    results: [{ callId: "c1", tool: "read_file", output: `it is ${SECRET}`, failed: false }],
  });
  await journal.addMessage("one", { role: "assistant", text: "done", calls: [] });
  await journal.end("one", ending());
  const { json } = await get("/websocket:a/messages");
  const image = `/signed/media-dir/${hash("i")}?name=undefined`;
  const document = `/signed/media-dir/${hash("d")}?name=a b.txt`;
  assertEquals(
    json.messages.map(({ id, ...message }: { id: number }) => (assert(id > 0), message)),
    [
      {
        turn_id: "one",
        role: "user",
        user_index: 0,
        text: "look\nand read",
        attachments: [
          { type: "image", media_type: "image/png", bytes: 3, url: image },
          { type: "document", name: "a b.txt", media_type: "text/plain", bytes: 5, url: document },
          { type: "image", media_type: "image/gif", bytes: 3 },
        ],
        media_urls: [image, document],
      },
      {
        turn_id: "one",
        role: "assistant",
        text: "",
        tool_calls: [{ call_id: "c1", tool: "read_file", args: { path: "x" } }],
      },
      {
        turn_id: "one",
        role: "tool",
        results: [{ call_id: "c1", tool: "read_file", output: "it is [secret S]", failed: false }],
      },
      { turn_id: "one", role: "assistant", text: "done", tool_calls: [] },
    ],
  );
  assertEquals([json.key, json.user_index, "before" in json], [key, 0, false]);
  const shown = await setUp({ journal, showReasoning: true }).get("/websocket:a/messages");
  assertEquals(shown.json.messages[1].reasoning, "hm");
  await journal.close();
});

Deno.test("GET messages pages backwards without a gap, and counts messages of people", async () => {
  const { journal, get } = setUp();
  for (let index = 0; index < 25; index++) await say(journal, keyOf("a"), `t${index}`);
  for (const limit of [1, 7, 16, 17, 50, 100]) {
    const seen: { role: string; user_index?: number; text: string }[] = [];
    for (let query = `?limit=${limit}`;;) {
      const { json } = await get(`/websocket:a/messages${query}`);
      assert(json.messages.length <= limit && json.messages.length > 0);
      const first = json.messages.find(({ role }: { role: string }) => role === "user");
      if (first !== undefined) assertEquals(first.user_index, json.user_index);
      seen.unshift(...json.messages);
      if (json.before === undefined) break;
      query = `?limit=${limit}&before=${json.before}`;
    }
    assertEquals(seen.length, 50);
    for (const [index, { user_index, text }] of seen.entries()) {
      const turn = Math.floor(index / 2);
      assertEquals(
        [user_index, text],
        index % 2 === 0 ? [turn, `input of t${turn}`] : [undefined, `answer to t${turn}`],
      );
    }
  }
  await journal.close();
});

Deno.test("GET messages ends a page early where messages are long", async () => {
  const { journal, get } = setUp();
  const long = "x".repeat(900_000);
  for (let index = 0; index < 20; index++) {
    await say(journal, keyOf("a"), `t${index}`, [{ type: "text", text: long }]);
  }
  const { json } = await get("/websocket:a/messages?limit=100");
  assert(json.messages.length < 40 && json.messages.length > 0);
  assertEquals(json.before, json.messages[0].id);
  await journal.close();
});

Deno.test("PUT title renames a session, and keeps no secret in it", async () => {
  const { journal, send } = setUp();
  await say(journal, keyOf("a"), "t");
  const renamed = await send("PUT", "/websocket:a/title", { title: `Notes ${SECRET}` });
  assertEquals([renamed.status, renamed.json.title], [200, "Notes [secret S]"]);
  assertEquals(journal.session(keyOf("a"))?.title, "Notes [secret S]");
  const wrong = [{}, { title: 5 }, { title: "" }, { title: "a\u202eb" }, {
    title: "x".repeat(201),
  }];
  for (const body of [...wrong, { title: "x".repeat(5_000) }, { __proto__: { title: "x" } }, []]) {
    const { status, json } = await send("PUT", "/websocket:a/title", body);
    assertEquals([status, json.error.code], [400, "invalid_request"], JSON.stringify(body));
  }
  assertEquals((await send("PUT", "/websocket:a/title", { title: "x" }, "read")).status, 403);
  assertEquals(journal.session(keyOf("a"))?.title, "Notes [secret S]");
  await journal.close();
});

Deno.test("POST fork makes a chat in the caller's own workspace", async () => {
  const { journal, send, get } = setUp();
  await say(journal, keyOf("a", ANN), "one");
  await say(journal, keyOf("a", ANN), "two");
  await say(journal, "api:default", "three");
  const path = `/${keyOf("a", ANN)}/fork`;
  const made = await send("POST", path, { before_user_index: 1 }, "person");
  assertEquals([made.status, made.json.key, made.json.chat_id], [
    200,
    keyOf("made1", ANN),
    "made1",
  ]);
  const { json } = await get(`/${keyOf("made1", ANN)}/messages`, "person");
  assertEquals(json.messages.map(({ text }: { text: string }) => text), [
    "input of one",
    "answer to one",
  ]);
  // A conversation of another channel goes on as a chat.
  const chat = await send("POST", "/api:default/fork", { before_user_index: 1, chat_id: "mine" });
  assertEquals(chat.json.key, "websocket:mine");

  const refused: [body: unknown, param: string][] = [
    [{ before_user_index: 1, chat_id: "mine" }, "chat_id"],
    [{ before_user_index: 1, chat_id: "a.b" }, "chat_id"],
    [{ before_user_index: 1, chat_id: `${"ab".repeat(16)}.a` }, "chat_id"],
    [{ before_user_index: 1, chat_id: "x".repeat(65) }, "chat_id"],
    [{ before_user_index: 2 }, "before_user_index"],
    [{ before_user_index: -1 }, "before_user_index"],
    [{ before_user_index: 1.5 }, "before_user_index"],
    [{ before_user_index: "1" }, "before_user_index"],
    [{}, "before_user_index"],
  ];
  for (const [body, param] of refused) {
    const { status, json } = await send("POST", "/api:default/fork", body);
    assertEquals([status, json.error.param], [400, param], JSON.stringify(body));
  }
  await journal.close();
});

Deno.test("DELETE removes a session once, and none in which a turn is open", async () => {
  const { journal, send, get } = setUp();
  await say(journal, keyOf("a"), "t");
  await journal.accept(newTurn("open", { sessionKey: keyOf("b"), channel: "websocket" }));
  assertEquals((await send("DELETE", "/websocket:b")).status, 400);
  assert(journal.session(keyOf("b")) !== undefined);
  const path = "/websocket:a";
  const all = await Promise.all([
    send("DELETE", path),
    send("DELETE", path),
    send("PUT", `${path}/title`, { title: "New" }),
    send("DELETE", path),
    get(`${path}/messages`),
  ]);
  const statuses = all.map(({ status }) => status);
  assertEquals(statuses.filter((status, index) => status === 200 && index !== 2 && index !== 4), [
    200,
  ]);
  assert(statuses.every((status) => [200, 404].includes(status)), statuses.join());
  assertEquals((await get(path)).status, 404);
  await journal.close();
});

Deno.test("DELETE and rename at once leave either a renamed session or none", async () => {
  const { journal, send } = setUp();
  for (let round = 0; round < 20; round++) {
    const key = keyOf(`c${round}`);
    await say(journal, key, `t${round}`);
    const both = [
      send("PUT", `/${key}/title`, { title: "New" }),
      send("DELETE", `/${key}`),
    ];
    const [renamed, deleted] = await Promise.all(round % 2 === 0 ? both : both.reverse());
    const statuses = [renamed!.status, deleted!.status].sort();
    assert(statuses[0] === 200 && [200, 404].includes(statuses[1]!), statuses.join());
    assertEquals(journal.session(key), undefined);
  }
  await journal.close();
});

async function linesOf(response: Response): Promise<Record<string, unknown>[]> {
  return (await response.text()).trimEnd().split("\n").map((line) => JSON.parse(line));
}

Deno.test("GET export streams everything on record, secrets taken out", async () => {
  const { journal, ask, access } = setUp();
  const input: UserPart[] = [{ type: "text", text: `a ${SECRET} in here` }];
  for (let index = 0; index < 40; index++) await say(journal, keyOf("a"), `t${index}`, input);
  const response = await ask(`${PATH}/websocket:a/export`, { token: "read" });
  assertEquals(response.headers.get("content-type"), "application/x-ndjson");
  // It is logged when it has ended, not before.
  assertEquals(access, []);
  const lines = await linesOf(response);
  const kinds = lines.map(({ kind }) => kind);
  assertEquals(kinds, [
    "session",
    ...Array(40).fill("turn"),
    ...Array(80).fill("message"),
    ...Array(80).fill("event"),
  ]);
  assert(!JSON.stringify(lines).includes(SECRET));
  assertEquals(access.map(({ status, stream }) => [status, stream]), [[200, "ended"]]);
  await journal.close();
});

Deno.test("GET export reads no further than its reader, and stops when that leaves", async () => {
  const { journal, ask, access, reads } = setUp();
  const input: UserPart[] = [{ type: "text", text: "x".repeat(50_000) }];
  for (let index = 0; index < 200; index++) await say(journal, keyOf("a"), `t${index}`, input);
  const response = await ask(`${PATH}/websocket:a/export`, { token: "read" });
  const reader = response.body!.getReader();
  for (let piece = 0; piece < 3; piece++) assert((await reader.read()).value!.length > 0);
  // Of ten megabytes, pages of sixteen turns.
  assertEquals(reads, { turns: 1, history: 0 });
  await reader.cancel();
  assertEquals(access.map(({ status, stream }) => [status, stream]), [[200, "cancelled"]]);
  assertEquals(reads, { turns: 1, history: 0 });
  assertEquals(journal.counts().waitingFollowers, 0);
  await journal.close();
});

Deno.test("GET export says when the session went away under it", async () => {
  const { journal, ask, send } = setUp();
  const input: UserPart[] = [{ type: "text", text: "x".repeat(50_000) }];
  for (let index = 0; index < 60; index++) await say(journal, keyOf("a"), `t${index}`, input);
  const response = await ask(`${PATH}/websocket:a/export`, { token: "read" });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader.read()).value, { stream: true });
  assertEquals((await send("DELETE", "/websocket:a")).status, 200);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  const last = JSON.parse(text.trimEnd().split("\n").at(-1)!);
  assertEquals([last.kind, last.error.code], ["error", "not_found"]);
  await journal.close();
});

Deno.test("GET export by HEAD opens no stream", async () => {
  const { journal, ask, access } = setUp();
  await say(journal, keyOf("a"), "t");
  const response = await ask(`${PATH}/websocket:a/export`, { method: "HEAD", token: "read" });
  assertEquals([response.status, response.body], [200, null]);
  assertEquals(access.length, 1);
  await journal.close();
});

Deno.test("a token of each scope reads or changes sessions as the table says", async () => {
  const { journal, ask } = setUp();
  await say(journal, keyOf("a"), "t");
  for (const token of ["chat", "approve", "secrets", "nothing"]) {
    for (const path of ["", "/websocket:a", "/websocket:a/messages", "/websocket:a/export"]) {
      const refused = await ask(`${PATH}${path}`, { token });
      assertEquals(await refusal(refused), [403, "insufficient_scope"]);
    }
  }
  const changes = [["DELETE", ""], ["POST", "/fork"], ["PUT", "/title"]] as const;
  for (const [method, path] of changes) {
    const asked = { method, token: "read", body: {} };
    assertEquals((await ask(`${PATH}/websocket:a${path}`, asked)).status, 403);
  }
  await journal.close();
});

Deno.test("no path, query or body makes the routes of sessions fail, or show what is another's", async () => {
  const { journal, ask, errors } = setUp();
  await say(journal, keyOf("a"), "mine");
  await say(journal, keyOf("a", ANN), "anns");
  const segment = fc.oneof(
    fc.constantFrom(
      "websocket:a",
      keyOf("a", ANN),
      "messages",
      "export",
      "title",
      "fork",
      "",
      "..",
    ),
    anyString({ maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
    fc.stringMatching(/^[!-~]{0,12}$/).map((text) => text.replace(/[?#\\]/g, "")),
  );
  const query = fc.webQueryParameters();
  const body = fc.oneof(
    fc.json(),
    fc.record({ title: fc.string(), before_user_index: fc.anything(), chat_id: fc.string() })
      .map((value) => JSON.stringify(value, (_, each) => typeof each === "bigint" ? 0 : each)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(segment, { maxLength: 3 }),
      query,
      fc.constantFrom("GET", "HEAD", "PUT", "POST", "OPTIONS", "PATCH"),
      body,
      async (path, query, method, body) => {
        const reads = method === "GET" || method === "HEAD";
        const response = await ask(`${PATH}/${path.join("/")}?${query}`, {
          method,
          token: "other",
          ...!reads && { raw: body, headers: { "content-type": "application/json" } },
        });
        const text = await response.text();
        assert(response.status < 500, `${response.status} ${text}`);
        assert(!/input of (mine|anns)/.test(text), text);
      },
    ),
    { numRuns: rounds(500) },
  );
  assertEquals(errors, []);
  assertEquals(
    journal.sessions({ limit: 10 }).map(({ key }) => key).sort(),
    [
      keyOf("a"),
      keyOf("a", ANN),
    ].sort(),
  );
  await journal.close();
});
