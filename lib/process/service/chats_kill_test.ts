/**
 * What `kill -9` leaves of chats. The file is also the program that is killed: people write into 20
 * chats, messages come from elsewhere, and what was acknowledged is printed.
 */
import { assert, assertEquals, assertGreater, assertNotEquals } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { setImmediate } from "node:timers/promises";
import { testAgent } from "../../agent/testing/test_agent.ts";
import { answering, finish } from "../../agent/testing/scripted_model.ts";
import type { Answer } from "../../agent/testing/scripted_model.ts";
import { systemClock } from "../../base/clock.ts";
import type { Chats } from "../../contract/chats.ts";
import { fakeDocuments } from "../../http/testing/fake_documents.ts";
import { openJournal } from "../../journal/open.ts";
import { assertRows } from "../../journal/testing/assert_rows.ts";
import { assertWhole } from "../../journal/testing/assert_whole.ts";
import { replay, withFolder } from "../../journal/testing/steps.ts";
import type { Journal } from "../../contract/journal.ts";
import { createChats } from "./chats.ts";
import { createOutbox } from "../../delivery/outbox.ts";
import { lockedFlags } from "../../packages/locked_packages.ts";

const CHATS = 20;
const NEVER = new AbortController().signal;

/** Repeats what the person said, a word at a time, some turns of the event loop apart. */
const echo: Answer = async function* ({ messages }) {
  const last = messages.findLast(({ role }) => role === "user");
  const said = last?.role === "user" && last.parts[0]?.type === "text" ? last.parts[0].text : "";
  for (const word of ["You", " said", ` "${said}"`]) {
    yield { type: "text", text: word };
    await setImmediate();
  }
  yield finish();
};

function service(journal: Journal, idPrefix: string) {
  const model = answering(echo);
  const { turns, media } = testAgent({ journal, model, idPrefix });
  const chats = createChats({
    turns,
    journal,
    documents: fakeDocuments,
    scrub: (text) => text,
    clock: systemClock,
  });
  return { turns, media, chats, outbox: createOutbox({ journal, isEnabled: () => true }) };
}

const idOf = (lane: number, n: number) => `${lane}-${n}`;

async function write(chats: Chats, lane: number, n: number) {
  const sent = await chats.send({
    chatId: `chat${lane}`,
    sender: { actor: "websocket:c" },
    text: `message ${idOf(lane, n)}`,
    files: [],
    clientMsgId: idOf(lane, n),
  }, NEVER);
  if (sent.kind !== "turn") throw new Error("it is no command");
  return sent;
}

const news = (lane: number, n: number) => ({
  id: `news-${idOf(lane, n)}`,
  channel: "websocket",
  chatId: `chat${lane}`,
  content: `news ${idOf(lane, n)}`,
});

/** Three messages of a person and one from elsewhere at a time, in each chat. */
async function writeUntilKilled(path: string): Promise<void> {
  const journal = openJournal({ path });
  const { chats, outbox } = service(journal, `first${Deno.pid}.`);
  const print = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${line} .\n`));
  print(`epoch ${chats.head({ chatId: "chat0" }).epoch}`);
  await Promise.all(Array.from({ length: CHATS }, async (_, lane) => {
    for (let n = 0;; n += 3) {
      await Promise.all([0, 1, 2].map(async (at) => {
        print(`sending ${lane} ${n + at}`);
        const { turnId } = await write(chats, lane, n + at);
        print(`accepted ${lane} ${n + at} ${turnId}`);
      }));
      print(`saying ${lane} ${n}`);
      await outbox.enqueue(news(lane, n));
      print(`said ${lane} ${n}`);
      while (journal.counts().openTurns > CHATS * 4) await setImmediate();
    }
  }));
}

/** What it printed; it is killed when so many messages were accepted. */
async function killedAfter(path: string, messages: number): Promise<string[][]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--cached-only",
      ...lockedFlags(),
      "--no-check",
      import.meta.url,
      "write-until-killed",
      path,
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const printed: string[] = [];
  const output = child.stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  for await (const line of output) {
    printed.push(line);
    // Reading goes on after the kill: what was printed before it counts too.
    if (line.startsWith("accepted") && --messages === 0) child.kill("SIGKILL");
  }
  await child.status;
  // The last line may be cut off in its middle; what it stood for may be done all the same.
  return printed.filter((line) => line.endsWith(" .")).map((line) => line.split(" "));
}

Deno.test("W1 W2 W3 kill -9 with 20 chats in flight loses and doubles nothing that was accepted", () =>
  withFolder(async (folder) => {
    for (const messages of [10, 150, 500]) {
      const path = `${folder}/${messages}.db`;
      await checkKilled(path, await killedAfter(path, messages));
    }
  }));

async function checkKilled(path: string, lines: readonly string[][]): Promise<void> {
  const journal = openJournal({ path });
  const { resume } = await journal.recover();
  const { turns, chats, outbox } = service(journal, `second${Deno.pid}.`);
  turns.recovered(resume);
  const of = (kind: string) => lines.filter(([word]) => word === kind);
  assertGreater(of("accepted").length, 0);
  assertGreater(resume.length, 0, "nothing was in flight");
  assertNotEquals(chats.head({ chatId: "chat0" }).epoch, of("epoch")[0]![1]);

  // Clients send again whatever they sent, whether they heard of it or not.
  const accepted = new Map(of("accepted").map(([, lane, n, turnId]) => [`${lane}-${n}`, turnId]));
  const turnIds = new Set<string>();
  for (const [, lane, n] of of("sending")) {
    const { turnId, repeated } = await writeAgain(chats, Number(lane), Number(n));
    const known = accepted.get(`${lane}-${n}`);
    if (known !== undefined) assertEquals([turnId, repeated], [known, true]);
    turnIds.add(turnId);
  }
  assertEquals(turnIds.size, of("sending").length);
  for (const [, lane, n] of of("saying")) await outbox.enqueue(news(Number(lane), Number(n)));
  for (const id of turnIds) for await (const _ of turns.find(id)!.events());

  for (let lane = 0; lane < CHATS; lane++) {
    const session = journal.session(`websocket:chat${lane}`);
    if (session === undefined) continue;
    const events = await replay(journal, session.id);
    const context = journal.context(session.id);
    assertWhole(events, context);
    const mine = (kind: string) =>
      of(kind).filter(([, of]) => Number(of) === lane).map(([, , n]) => idOf(lane, Number(n)));
    const told = context.map(({ message }) => message);
    const asked = told.flatMap((message) =>
      message.role === "user" && message.parts[0]!.type === "text" ? [message.parts[0]!.text] : []
    );
    assertEquals(asked.toSorted(), mine("sending").map((id) => `message ${id}`).toSorted());
    const answers = told.flatMap((message) => message.role === "assistant" ? [message.text] : []);
    assertEquals(
      answers.toSorted(),
      [
        ...mine("sending").map((id) => `You said "message ${id}"`),
        ...mine("saying").map((id) => `news ${id}`),
      ].toSorted(),
    );
    const said = events.flatMap(({ event }) => event.type === "message" ? [event.text] : []);
    assertEquals(said.toSorted(), mine("saying").map((id) => `news ${id}`).toSorted());
    const ends = events.flatMap(({ event }) => event.type === "turn_end" ? [event.status] : []);
    assertEquals(ends, mine("sending").map(() => "done"));
  }
  assert(journal.outbox(0, 100_000).every(({ state }) => state === "sent"));
  await turns.drain({ graceMs: 0 });
  await journal.close();
  assertRows(path);
}

/** A lane takes 64 at a time; a client that is told so comes again. */
async function writeAgain(chats: Chats, lane: number, n: number) {
  for (;;) {
    try {
      return await write(chats, lane, n);
    } catch (error) {
      if ((error as { code?: string }).code !== "queue_full") throw error;
      await setImmediate();
    }
  }
}

if (Deno.args[0] === "write-until-killed") await writeUntilKilled(Deno.args[1]!);
