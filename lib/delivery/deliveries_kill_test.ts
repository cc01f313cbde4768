/**
 * That no answer is lost and none is sent twice without a word, whenever the process is killed (W1). The
 * file is also the program that is killed: it accepts turns, answers them, and delivers over a link
 * whose platform is a file, in which stands what has really arrived.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { openJournal } from "../journal/open.ts";
import { assertRows } from "../journal/testing/assert_rows.ts";
import { withFolder } from "../journal/testing/steps.ts";
import type { Journal } from "../contract/journal.ts";
import type { ChannelLink } from "../channel/channel_link.ts";
import { createDeliveries } from "./create_deliveries.ts";
import { deliverySpec, segment } from "./testing/delivery_world.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const CHANNELS = ["whole", "streams", "able"] as const;
const CHATS = 4;
const WORDS = 6;

const wordsOf = (text: string): string[] => text.match(/<[^>]*>/g) ?? [];

/** Shows what went wrong in the program, and ends it. */
function fail(message: string, fields?: unknown): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${message} ${JSON.stringify(fields)}\n`));
  Deno.exit(1);
}

/** Writes a line that outlives the process. */
function append(path: string, line: string): void {
  using file = Deno.openSync(path, { append: true, create: true, write: true });
  file.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** A runtime whose platform is a file. Something may happen before and after it takes a message. */
function fileLink(
  runtimeName: string,
  platform: string,
  pause: () => Promise<void>,
): ChannelLink & { sends: number } {
  /** Stands in for a platform that knows the ids of what it has had. */
  const known = new Set(
    runtimeName === "able" ? readLines(platform).map((line) => line.split("\t")[1]) : [],
  );
  async function take(id: string, content: string): Promise<void> {
    link.sends++;
    await pause();
    // Two in a row of seven fail before anything arrives.
    if (link.sends % 7 < 2) throw new Error("no connection");
    if (runtimeName !== "able" || !known.has(id)) {
      append(platform, `${runtimeName}\t${id}\t${content}`);
    }
    known.add(id);
    await pause();
  }
  const link = {
    runtimeName,
    supportsStreaming: runtimeName === "streams",
    isRunning: true,
    sends: 0,
    send: (message: { id: string; content: string; event?: unknown }) =>
      message.event === undefined ? take(message.id, message.content) : Promise.resolve(),
    sendDelta: ({ streamId, delta }: { streamId?: string; delta: string }) =>
      delta === "" ? Promise.resolve() : take(streamId!, delta),
    sendReasoning: () => Promise.resolve(),
    sendReasoningDelta: () => Promise.resolve(),
    sendReasoningEnd: () => Promise.resolve(),
  };
  return link;
}

function readLines(path: string): string[] {
  try {
    return Deno.readTextFileSync(path).split("\n").filter((line) => line !== "");
  } catch {
    return [];
  }
}

function deliver(journal: Journal, platform: string, pause: () => Promise<void>) {
  const deliveries = createDeliveries({
    journal,
    // A hundred times as fast.
    clock: {
      now: () => Date.now(),
      elapsed: () => performance.now(),
      after(ms, run) {
        const timer = setTimeout(run, ms / 100);
        return () => clearTimeout(timer);
      },
    },
    callTimeoutMs: 3_000_000,
    log: { debug() {}, info() {}, warning() {}, error: fail },
  });
  for (const channel of CHANNELS) {
    deliveries.attach(
      fileLink(channel, platform, pause),
      deliverySpec({
        capabilities: channel === "able" ? ["idempotent_send"] : [],
        sendMaxRetries: 10,
      }),
    );
  }
  return deliveries;
}

/** Answers turns and delivers until it is killed, printing what it has accepted and said. */
async function runUntilKilled(path: string, platform: string, boot: string): Promise<void> {
  const journal = openJournal({ path });
  const { resume } = await journal.recover();
  const print = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  const deliveries = deliver(
    journal,
    platform,
    () => new Promise((resolve) => setTimeout(resolve, Math.random() * 40)),
  );
  const answer = async (id: string) => {
    await journal.start(id);
    const attempt = journal.turn(id)!.attempts;
    for (const [at, isLast] of [[0, false], [1, true]] as const) {
      for (let word = 0; word < WORDS; word++) {
        await journal.append(id, [{
          type: "text_delta",
          streamId: `${id}.${attempt}.${at}`,
          text: `<${id}.${attempt}.${at}.${word}>`,
        }]);
      }
      await journal.append(id, [
        { type: "segment_end", streamId: `${id}.${attempt}.${at}`, resuming: !isLast },
      ]);
    }
    const usage = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 };
    await journal.end(id, {
      event: { type: "turn_end", status: "done", finishReason: "stop", usage },
      forget: false,
    });
    print(`answered ${id} ${attempt}`);
  };
  print("up");
  for (const { id } of resume) await answer(id);
  await Promise.all(CHANNELS.map(async (channel) => {
    for (let n = 0;; n++) {
      const id = `${channel}-${boot}-${n}`;
      await journal.accept({
        id,
        sessionKey: `${channel}:${n % CHATS}`,
        channel,
        actor: `${channel}:someone`,
        input: [{ type: "text", text: "hello" }],
        durable: true,
      }, {
        delivery: {
          runtimeName: channel,
          chatId: `#${n % CHATS}`,
          metadata: {},
          streaming: channel === "streams",
        },
      });
      deliveries.follow(id);
      await answer(id);
      const message = { id: `said-${id}`, channel, chatId: `#${n % CHATS}`, content: `<m.${id}>` };
      await journal.enqueue(message);
      deliveries.wake(channel, message.chatId);
      print(`queued ${id}`);
    }
  }));
}

Deno.test("createDeliveries() through kill -9 at any instant loses nothing and repeats nothing unsaid (W1)", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    const platform = `${folder}/platform`;
    const BOOTS = 6;
    const printed: string[] = [];
    for (let boot = 0; boot < BOOTS; boot++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--cached-only",
          ...lockedFlags(),
          "--no-check",
          import.meta.url,
          "run-until-killed",
          path,
          platform,
          `${boot}`,
        ],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const output = child.stdout.pipeThrough(new TextDecoderStream())
        .pipeThrough(new TextLineStream());
      let lines = 0;
      const killAfter = 2 + Math.floor(Math.random() * 60);
      for await (const line of output) {
        // The last line may be cut off in its middle.
        printed.push(line);
        if (++lines === killAfter) child.kill("SIGKILL");
      }
      await child.status;
      printed.pop();
    }

    const journal = openJournal({ path });
    const { resume } = await journal.recover();
    const deliveries = deliver(journal, platform, () => Promise.resolve());
    const usage = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 };
    for (const { id } of resume) {
      await journal.start(id);
      await journal.append(id, segment("last", ["<last>"]));
      await journal.end(id, {
        event: { type: "turn_end", status: "done", finishReason: "stop", usage },
        forget: false,
      });
    }
    while (
      journal.deliveries.turns(0, 1).length > 0 ||
      CHANNELS.some((channel) => deliveries.counts(channel).waiting > 0)
    ) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await deliveries.stop(0);

    const rows = journal.outbox(0, 100_000);
    assertEquals(rows.filter(({ state }) => !["sent", "unknown"].includes(state)), []);
    const arrived = new Map<string, number>();
    for (const line of readLines(platform)) {
      for (const word of wordsOf(line)) arrived.set(word, (arrived.get(word) ?? 0) + 1);
    }
    const unknown = new Set(
      rows.filter(({ state }) => state === "unknown").flatMap(({ content }) => wordsOf(content)),
    );
    // Nothing is twice; nothing is missing but what is on record as unknown.
    const twice = [...arrived].filter(([word, times]) => times > 1 && word !== "<last>");
    assertEquals(twice, []);
    const answered = new Set(
      printed.filter((line) => line.startsWith("answered")).map((line) => line.slice(9)),
    );
    assertGreater(answered.size, 20);
    for (const line of answered) {
      const [id, attempt] = line.split(" ") as [string, string];
      for (const segment of id.startsWith("streams") ? [0, 1] : [1]) {
        for (let word = 0; word < WORDS; word++) {
          const name = `<${id}.${attempt}.${segment}.${word}>`;
          assert(arrived.has(name) || unknown.has(name), `${name} is lost`);
        }
      }
    }
    for (const line of printed.filter((line) => line.startsWith("queued"))) {
      const name = `<m.${line.slice(7)}>`;
      assert(arrived.has(name) || unknown.has(name), `${name} is lost`);
    }
    // A channel that can tell a repeat has nothing that nobody knows of.
    const counts = Object.fromEntries(
      CHANNELS.map((channel) => [channel, journal.deliveries.counts(channel).unknown]),
    );
    assertEquals(counts["able"], 0);
    assertEquals(
      counts["whole"]! + counts["streams"]!,
      rows.filter(({ state }) => state === "unknown").length,
    );
    await journal.close();
    assertRows(path);
  }));

if (Deno.args[0] === "run-until-killed") {
  await runUntilKilled(Deno.args[1]!, Deno.args[2]!, Deno.args[3]!);
}
