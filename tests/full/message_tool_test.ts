import OpenAI from "openai";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openJournal } from "../../lib/journal/open.ts";
import type { OutboxRow } from "../../lib/contract/journal.ts";
import {
  type Behaviour,
  type FakeCall,
  type RecordedRequest,
  startModelServer,
} from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "../support/home.ts";

const TEXT = "the build is green";

function messageCall(chat_id: string, more: Partial<FakeCall> = {}): FakeCall {
  return { tool: "message", args: { content: TEXT, channel: "telegram", chat_id }, ...more };
}

function configOf(model: { baseUrl: string }, messageTargets: string[], api = {}): unknown {
  return {
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    gates: { messageTargets },
    api,
  };
}

async function ask(service: Running, content: string): Promise<string | null> {
  const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: "-", maxRetries: 0 });
  const answer = await client.chat.completions.create({
    model: "local/fake",
    messages: [{ role: "user", content }],
  });
  return answer.choices[0]!.message.content;
}

/** What the model was told of its calls so far, in order. */
function resultsIn({ body }: RecordedRequest): string[] {
  const messages: { role: string; content: string }[] = body.messages;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
}

/** The outbox of a home whose service has ended. */
async function outboxOf(home: TestHome): Promise<OutboxRow[]> {
  const journal = openJournal({ path: `${home.dir}/home/data/service.db` });
  const rows = journal.outbox(0, 100);
  await journal.close();
  return rows;
}

interface AuditLine {
  kind: string;
  seq: number;
  data: Record<string, unknown>;
}

async function auditOf(home: TestHome): Promise<AuditLine[]> {
  const text = await Deno.readTextFile(`${home.dir}/home/audit/audit.jsonl`);
  return text.trim().split("\n").map((line): AuditLine => JSON.parse(line))
    .filter(({ kind }) => kind.startsWith("action."));
}

Deno.test("the message tool queues for a listed chat, says that it waits, and outlives kill -9", async () => {
  await using model = startModelServer({
    script: [{ calls: [messageCall("12345")] }, { text: "queued it" }, { text: "still here" }],
  });
  await using home = await makeHome(configOf(model, ["telegram:12345"]));
  {
    await using service = await home.start();
    assertEquals(await ask(service, "tell ops"), "queued it");
    const [told] = resultsIn(await model.request(1));
    assertStringIncludes(told!, 'Queued, not delivered: the channel "telegram" is not enabled');
    await service.kill();
  }
  const [start, end, ...others] = await auditOf(home);
  assertEquals(others, []);
  assertEquals([start!.kind, start!.data.capability, start!.data.target], [
    "action.start",
    "message.send",
    { kind: "chat", channel: "telegram", chatId: "12345" },
  ]);
  assertEquals([end!.kind, end!.data.start, end!.data.status], ["action.end", start!.seq, "ok"]);
  assertEquals([end!.data.channelEnabled, end!.data.repeated], [false, false]);

  {
    await using service = await home.start();
    assertEquals(await ask(service, "and now?"), "still here");
    assertEquals(await service.stop(), 0);
  }
  const [row, ...more] = await outboxOf(home);
  assertEquals(more, []);
  assertEquals([row!.channel, row!.chatId, row!.content, row!.state], [
    "telegram",
    "12345",
    TEXT,
    "pending",
  ]);
  assertEquals([row!.id, row!.turnId], [end!.data.message, start!.data.turn]);
  assertEquals(row!.expiresAt - row!.createdAt, 24 * 60 * 60 * 1_000);
  assertEquals((await auditOf(home)).length, 2);
});

Deno.test("the message tool refuses a chat that is not listed, and queues nothing", async () => {
  const calls = [
    messageCall("123456"),
    messageCall("*", { id: "call_all" }),
    { tool: "message", args: { content: TEXT }, id: "call_bare" },
  ];
  await using model = startModelServer({ script: [{ calls }, { text: "could not" }] });
  await using home = await makeHome(configOf(model, ["telegram:12345"]));
  {
    await using service = await home.start();
    assertEquals(await ask(service, "tell ops"), "could not");
    const [refused, all, bare] = resultsIn(await model.request(1));
    assertStringIncludes(refused!, 'Refused: message.send of "telegram:123456"');
    assertStringIncludes(refused!, "service grants add api:default message.send telegram:123456");
    assertStringIncludes(all!, "Arguments of message: chat_id: expected one chat's id");
    assertStringIncludes(bare!, "channel");
    assertEquals(await service.stop(), 0);
  }
  assertEquals((await auditOf(home)).map(({ kind }) => kind), ["action.refused"]);
  assertEquals(await outboxOf(home), []);
});

Deno.test("the message tool sends nothing from an unattended turn, listed or not", async () => {
  await using model = startModelServer({
    script: [{ calls: [messageCall("12345")] }, { text: "could not" }],
  });
  await using home = await makeHome(configOf(model, ["telegram:*"], { attended: false }));
  {
    await using service = await home.start();
    assertEquals(await ask(service, "tell telegram:12345"), "could not");
    const [refused] = resultsIn(await model.request(1));
    assertStringIncludes(refused!, "rule unattended");
    assertEquals(await service.stop(), 0);
  }
  assertEquals(await outboxOf(home), []);
});

Deno.test("the message tool queues each of several calls once, also when a model repeats their ids", async () => {
  const same: Behaviour = { calls: [messageCall("1", { id: "x" }), messageCall("2", { id: "x" })] };
  await using model = startModelServer({ script: [same, same, { text: "sent" }] });
  await using home = await makeHome(configOf(model, ["telegram:*"]));
  {
    await using service = await home.start();
    assertEquals(await ask(service, "tell both, twice"), "sent");
    for (const told of resultsIn(await model.request(2))) {
      assert(told.startsWith("Queued, not delivered"), told);
    }
    assertEquals(await service.stop(), 0);
  }
  const rows = await outboxOf(home);
  assertEquals(rows.map(({ chatId }) => chatId), ["1", "2", "1", "2"]);
  assertEquals(new Set(rows.map(({ id }) => id)).size, 4);
});

Deno.test("kill -9 while messages are being queued: what the model was told is on record, each once", async () => {
  let asked = 0;
  const told: string[] = [];
  const third = Promise.withResolvers<void>();
  await using model = startModelServer({
    script: (request) => {
      told.splice(0, told.length, ...resultsIn(request));
      if (++asked === 3) third.resolve();
      return { calls: [messageCall(String(asked), { id: `call_${asked}` })] };
    },
  });
  await using home = await makeHome(configOf(model, ["telegram:*"]));
  let known: number;
  {
    await using service = await home.start();
    const asking = ask(service, "tell everybody").catch(() => "broken off");
    await Promise.race([
      third.promise,
      asking.then((answer) => Promise.reject(new Error(`ended early: ${answer}`))),
    ]);
    await service.kill();
    assertEquals(await asking, "broken off");
    known = told.length;
  }
  assert(known >= 2, String(known));
  // The next start puts in order what the crash left, and sends nothing again.
  await using again = await home.start();
  assertEquals(await again.stop(), 0);
  const rows = await outboxOf(home);
  const chats = rows.map(({ chatId }) => chatId);
  assertEquals(chats, Array.from(rows, (_, at) => String(at + 1)));
  assert(chats.length >= known, `${chats.length} rows, ${known} results`);
  const starts = (await auditOf(home)).filter(({ kind }) => kind === "action.start");
  assert(starts.length >= chats.length, "none was queued that was not on record before");
});
