/**
 * What deliveries through the outbox cost: messages that are accepted, put on record, claimed, sent over
 * a channel that takes them at once, and noted as sent; against bare inserts of the same rows into a file
 * with the same settings, each committed before it counts, as a message is.
 *
 *     deno run -A --cached-only --lock=deno.lock --frozen bench/outbox.ts [--json]
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { createDeliveries } from "../lib/delivery/create_deliveries.ts";
import type { ChannelLink } from "../lib/channel/channel_link.ts";
import { openJournal } from "../lib/journal/open.ts";
import type { Journal, OutboxMessage } from "../lib/contract/journal.ts";
import { type Figure, median, report } from "./report.ts";

const MESSAGES = 2_000;
const CHATS = [1, 32, 256];
const ROUNDS = 3;
/** Rows on record before, all of them sent. */
const OLD = 20_000;

const folder = Deno.makeTempDirSync({ prefix: "bench-outbox-" });
try {
  const samples = new Map<string, number[]>();
  const note = (name: string, value: number) =>
    samples.set(name, [...samples.get(name) ?? [], value]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const chats of CHATS) {
      note(`${chats}`, await timeDeliveries(`${folder}/${chats}-${round}.db`, chats));
    }
    note("old", await timeDeliveries(`${folder}/old-${round}.db`, 32, OLD));
    note("bare", timeInserts(`${folder}/bare-${round}.db`, 1));
    note("batched", timeInserts(`${folder}/batched-${round}.db`, 32));
  }
  const of = (name: string) => median(samples.get(name)!);
  const bare = { name: "bare inserts", value: of("bare") };
  const figures: Figure[] = [
    ...CHATS.map((chats): Figure => ({
      name: `deliveries, ${chats} chats`,
      value: of(`${chats}`),
      unit: "1/s",
      against: bare,
      aim: { atLeast: 0.33 },
    })),
    {
      name: "deliveries, 32 chats",
      value: of("32"),
      unit: "1/s",
      against: { name: "bare inserts, 32 a commit", value: of("batched") },
      aim: { atLeast: 0.25 },
    },
    {
      name: `deliveries, 32 chats, ${OLD} rows before`,
      value: of("old"),
      unit: "1/s",
      against: { name: "none before", value: of("32") },
      aim: { atLeast: 0.5 },
    },
  ];
  Deno.exitCode = report("outbox", figures, { json: Deno.args.includes("--json") }) ? 0 : 1;
} finally {
  Deno.removeSync(folder, { recursive: true });
}

function messageOf(n: number, chats: number): OutboxMessage {
  return {
    id: `answer:${crypto.randomUUID()}:${n}`,
    turnId: crypto.randomUUID(),
    channel: "bench",
    chatId: `chat-${n % chats}`,
    content: "An answer of about the length that an answer has. ".repeat(4),
    metadata: { message_id: `${n}` },
  };
}

/** Messages a second from the first `enqueue` to the last row that is noted as sent. */
async function timeDeliveries(path: string, chats: number, old = 0): Promise<number> {
  const journal = openJournal({ path });
  await fill(journal, old);
  const deliveries = createDeliveries({
    journal,
    log: { debug() {}, info() {}, warning() {}, error: fail },
  });
  const link: ChannelLink = {
    runtimeName: "bench",
    supportsStreaming: false,
    isRunning: true,
    send: () => Promise.resolve(),
    sendDelta: () => Promise.resolve(),
    sendReasoning: () => Promise.resolve(),
    sendReasoningDelta: () => Promise.resolve(),
    sendReasoningEnd: () => Promise.resolve(),
  };
  const detach = deliveries.attach(link, {
    capabilities: [],
    flags: { sendProgress: true, sendToolHints: true, showReasoning: true },
    sendMaxRetries: 3,
  });
  const messages = Array.from({ length: MESSAGES }, (_, n) => messageOf(n, chats));
  const start = performance.now();
  // As answers come: so many at a time, each acknowledged before the next of its chat.
  const lanes = Array.from({ length: 32 }, async (_, lane) => {
    for (let n = lane; n < MESSAGES; n += 32) {
      const message = messages[n]!;
      await journal.enqueue(message);
      deliveries.wake("bench", message.chatId);
    }
  });
  await Promise.all(lanes);
  while (deliveries.counts("bench").waiting > 0) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const seconds = (performance.now() - start) / 1_000;
  if (deliveries.counts("bench").sent !== MESSAGES) throw new Error("Not every message was sent");
  await detach();
  await deliveries.stop(0);
  await journal.close();
  return MESSAGES / seconds;
}

/** Shows what went wrong in the program, and ends it. */
function fail(message: string, fields?: unknown): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${message} ${JSON.stringify(fields)}\n`));
  Deno.exit(1);
}

async function fill(journal: Journal, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += 1_000) {
    await Promise.all(Array.from({ length: Math.min(1_000, rows - from) }, async (_, n) => {
      const chatId = `old-${from + n}`;
      await journal.enqueue({ ...messageOf(from + n, 1), channel: "old", chatId });
      const claim = await journal.deliveries.claim("old", chatId);
      if (claim !== undefined && "row" in claim) {
        await journal.deliveries.settle(claim.row.rowid, { state: "sent" });
      }
    }));
  }
}

/** Rows a second, so many of them in a commit. */
function timeInserts(path: string, inCommit: number): number {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
  db.exec(`CREATE TABLE outbox (message INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    turn_id TEXT NOT NULL, channel TEXT NOT NULL, chat_id TEXT NOT NULL, content TEXT NOT NULL,
    metadata TEXT, state TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL)
    STRICT`);
  const insert = db.prepare(
    `INSERT INTO outbox (id, turn_id, channel, chat_id, content, metadata, state, created_at,
       expires_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
  );
  const messages = Array.from({ length: MESSAGES }, (_, n) => messageOf(n, 32));
  const start = performance.now();
  for (let from = 0; from < MESSAGES; from += inCommit) {
    db.exec("BEGIN IMMEDIATE");
    for (const message of messages.slice(from, from + inCommit)) {
      const { id, turnId = "", channel, chatId, content, metadata } = message;
      const now = Date.now();
      const json = JSON.stringify(metadata);
      insert.run(id, turnId, channel, chatId, JSON.stringify(content), json, now, now + 86_400_000);
    }
    db.exec("COMMIT");
  }
  const seconds = (performance.now() - start) / 1_000;
  db.close();
  return MESSAGES / seconds;
}
