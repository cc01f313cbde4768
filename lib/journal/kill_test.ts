/**
 * What `kill -9` leaves. The file is also the program that is killed: it writes as fast as it can and
 * prints what was acknowledged.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { openJournal } from "./open.ts";
import { assertRows } from "./testing/assert_rows.ts";
import { assertWhole } from "./testing/assert_whole.ts";
import { hash, newTurn, replay, requestKey, text, withFiles, withFolder } from "./testing/steps.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { AcceptOptions, NewTurn, OutboxMessage } from "../contract/journal.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const LANES = 4;

/** A turn with everything that is written together with it. */
function requestOf(
  lane: number,
  n: number,
): { turn: NewTurn; options: Required<Omit<AcceptOptions, "begin" | "toldAtEnd">> } {
  const id = `${lane}-${n}`;
  return {
    turn: newTurn(id, {
      sessionKey: `test:${lane}`,
      durable: n % 2 === 1,
      input: withFiles(fileOf(lane, n)),
    }),
    options: {
      requestKey: requestKey(id),
      response: { credential: "me", request: { metadata: { id } } },
      delivery: { runtimeName: "test", chatId: `${lane}`, metadata: { id }, streaming: false },
      folder: `/home/ann/${lane}`,
    },
  };
}

/** A file of this turn alone. */
function fileOf(lane: number, n: number): string {
  return String.fromCharCode(0x1000 + n * LANES + lane);
}

function messageOf(id: string): OutboxMessage {
  return { id, turnId: id, channel: "test", chatId: "1", content: `from ${id}` };
}

/** Writes turns and deltas until it is killed, printing each acknowledgement as soon as it has it. */
async function writeUntilKilled(path: string): Promise<void> {
  const journal = openJournal({ path });
  const print = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  await Promise.all(Array.from({ length: LANES }, async (_, lane) => {
    for (let n = 0;; n++) {
      const id = `${lane}-${n}`;
      const { turn, options } = requestOf(lane, n);
      // In half of the lanes what belongs together is one write, as when nobody waits.
      const asOne = lane % 2 === 0;
      const model = "test/model";
      await journal.accept(turn, { ...options, begin: asOne ? { model } : undefined });
      print(`accepted ${lane} ${n}`);
      if (!asOne) {
        await journal.start(id);
        await journal.append(id, [{ type: "turn_start", model }]);
      }
      print(`turn ${id}`);
      await journal.enqueue(messageOf(id));
      print(`queued ${id}`);
      for (let k = 0; k < 20; k++) {
        const seq = await journal.append(id, [text(`${id} ${k};`)]);
        print(`event ${lane} ${seq} ${id} ${k};`);
      }
      // Left open, so that there is something to recover whenever the kill comes.
      if (n % 3 === 0) continue;
      const message = { role: "assistant" as const, text: "said", calls: [] };
      const events: AgentEvent[] = [{ type: "segment_end", streamId: "s", resuming: false }];
      const withEnd = asOne && n % 3 === 2;
      if (!withEnd) {
        await journal.addMessage(id, message, { events });
        print(`message ${id}`);
      }
      // Answered, and left without its end.
      if (n % 3 === 1) continue;
      await journal.end(id, {
        answer: withEnd ? { message, events } : undefined,
        event: {
          type: "turn_end",
          status: "done",
          finishReason: "stop",
          usage: { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 },
        },
        forget: false,
      });
      print(`end ${id}`);
    }
  }));
}

Deno.test("openJournal() after kill -9 has every write that was acknowledged, and goes on", () =>
  withFolder(async (folder) => {
    for (const lines of [3, 300, 1_500]) {
      const path = `${folder}/${lines}.db`;
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
        if (printed.length === lines) child.kill("SIGKILL");
      }
      await child.status;
      // The last line may be cut off in its middle.
      await checkAcknowledged(path, printed.slice(0, -1));
    }
  }));

async function checkAcknowledged(path: string, lines: readonly string[]): Promise<void> {
  assertGreater(lines.length, 1);
  const journal = openJournal({ path });
  const { interrupted, resume } = await journal.recover();
  assert(interrupted + resume.length > 0, "nothing was cut off");
  const said = new Map<string, string>();
  for (let lane = 0; lane < LANES; lane++) {
    const session = journal.session(`test:${lane}`);
    if (session === undefined) continue;
    const events = await replay(journal, session.id);
    assertWhole(events, journal.context(session.id));
    for (const { seq, event } of events) {
      if (event.type === "text_delta") said.set(`${lane} ${seq}`, event.text);
    }
  }
  const queued = new Map(journal.outbox(0, 100_000).map(({ id, content }) => [id, content]));
  for (const line of lines) {
    const [kind, ...words] = line.split(" ");
    switch (kind) {
      case "event":
        assertEquals(said.get(words.slice(0, 2).join(" ")), words.slice(2).join(" "));
        break;
      case "accepted": {
        const [lane, n] = words.map(Number) as [number, number];
        const { turn, options } = requestOf(lane, n);
        const found = journal.turn(turn.id)!;
        assertEquals(found.input, turn.input, line);
        // One that ended before it was ever started frees its key.
        const isFree = found.attempts === 0 && found.endedAt !== undefined;
        const repeated = isFree ? undefined : turn.id;
        assertEquals(journal.repeated(options.requestKey)?.id, repeated, line);
        const { request } = journal.responses.find(turn.id, "me")!;
        assertEquals(request, options.response.request, line);
        assert(journal.hasFile(hash(fileOf(lane, n))), line);
        assertEquals(journal.deliveries.turn(turn.id)?.metadata, { id: turn.id }, line);
        break;
      }
      case "queued":
        assertEquals(queued.get(words[0]!), messageOf(words[0]!).content, line);
        break;
      case "turn":
        assert((journal.turn(words[0]!)?.attempts ?? 0) > 0, line);
        break;
      case "end":
        assertEquals(journal.turn(words[0]!)?.status, "done", line);
        break;
      case "message": {
        const { sessionId } = journal.turn(words[0]!)!;
        const messages = journal.history(sessionId, 0, 10_000)
          .filter(({ turnId }) => turnId === words[0]);
        assertEquals(messages.map(({ message }) => message.role).slice(0, 2), [
          "user",
          "assistant",
        ]);
        assertEquals(journal.turn(words[0]!)?.status, "done", line);
        break;
      }
      default:
        throw new Error(`unexpected line: ${line}`);
    }
  }
  const { turn: { sessionId } } = await journal.accept(newTurn("next", { sessionKey: "test:0" }));
  await journal.start("next");
  assertEquals(journal.context(sessionId).at(-1)?.turnId, "next");
  await journal.close();
  assertRows(path);
}

if (Deno.args[0] === "write-until-killed") await writeUntilKilled(Deno.args[1]!);
