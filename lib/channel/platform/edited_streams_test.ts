import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { splitMarkdown } from "../markdown/mod.ts";
import type { StreamDelta } from "../../contract/outbound_message.ts";
import { EditedStreams } from "./edited_streams.ts";
import { rounds } from "../../../tests/support/rounds.ts";

/** What a platform shows, and what it was asked for. */
class Board {
  readonly clock = fakeClock();
  readonly messages: { chatId: string; text: string }[] = [];
  calls = 0;
  failures: Error[] = [];
  readonly streams: EditedStreams<number>;

  /** Keys of posts, each at every attempt. */
  readonly keys: string[] = [];

  constructor(limit = 100, everyMs = 0, knowsKeys = false) {
    this.streams = new EditedStreams({
      knowsKeys,
      post: async ({ chatId, key }, text) => {
        this.keys.push(key);
        await this.#call();
        return this.messages.push({ chatId, text }) - 1;
      },
      edit: async (ref, text) => {
        await this.#call();
        this.messages[ref]!.text = text;
      },
      split: (text) => splitMarkdown(text, limit),
      everyMs: () => everyMs,
      clock: this.clock,
    });
  }

  #call(): Promise<void> {
    this.calls += 1;
    const failure = this.failures.shift();
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  }

  get texts(): string[] {
    return this.messages.map(({ text }) => text);
  }
}

function piece(delta: string, more: Partial<StreamDelta> = {}): StreamDelta {
  return {
    chatId: "room",
    delta,
    metadata: {},
    streamId: "s",
    streamEnd: false,
    resuming: false,
    ...more,
  };
}

Deno.test("push() posts once and edits from then on (C28)", async () => {
  const board = new Board();
  await board.streams.push(piece("Hello"));
  await board.streams.push(piece(", world"));
  await board.streams.push(piece("", { streamEnd: true }));
  assertEquals([board.texts, board.calls], [["Hello, world"], 2]);
});

Deno.test("push() goes on in a further message where one is full", async () => {
  const board = new Board(20);
  for (const word of ["one two three ", "four five six ", "seven eight nine"]) {
    await board.streams.push(piece(word));
  }
  assertEquals(board.texts, ["one two three four", "five six seven eight", "nine"]);
});

Deno.test("push() shows two streams apart (C26)", async () => {
  const board = new Board();
  await board.streams.push(piece("a", { streamId: "1" }));
  await board.streams.push(piece("b", { streamId: "2" }));
  await board.streams.push(piece("c", { streamId: undefined }));
  await board.streams.push(piece("A", { streamId: "1", streamEnd: true }));
  await board.streams.push(piece("B", { streamId: "2", streamEnd: true }));
  // One that comes under the name of a stream that has ended is another.
  await board.streams.push(piece("d", { streamId: "1" }));
  assertEquals(board.texts, ["aA", "bB", "c", "d"]);
});

Deno.test("push() repeats nothing that was shown when a piece is given again (C27)", async () => {
  const board = new Board(20);
  await board.streams.push(piece("one two three "));
  board.failures = [new Error("away")];
  await assertRejects(() => board.streams.push(piece("four five six seven")), Error, "away");
  // With what came since.
  await board.streams.push(piece("four five six seven eight"));
  assertEquals(board.texts, ["one two three four", "five six seven eight"]);
});

Deno.test("push() waits until the platform may be called again, and close() ends the wait", async () => {
  const board = new Board(100, 1_000);
  await board.streams.push(piece("a"));
  const second = board.streams.push(piece("b"));
  assertEquals([board.texts, board.clock.timers()], [["a"], 1]);
  board.clock.tick(999);
  assertEquals(board.texts, ["a"]);
  board.clock.tick(1);
  await second;
  assertEquals(board.texts, ["ab"]);
  const third = board.streams.push(piece("c"));
  board.streams.close();
  await third;
  assertEquals(board.clock.timers(), 0);
});

Deno.test("push() shows nothing for what is blank", async () => {
  const board = new Board();
  await board.streams.push(piece("  \n"));
  await board.streams.push(piece("", { streamEnd: true }));
  assertEquals(board.calls, 0);
});

Deno.test("push() ends with the text that was said, whatever fails on the way", async () => {
  const words = fc.constantFrom(
    "word ",
    "**bold** ",
    "`code` ",
    "\n\n",
    "\n```js\n",
    "x();\n",
    "- item\n",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(words, fc.boolean()), { minLength: 1, maxLength: 40 }),
      async (steps) => {
        const board = new Board(60);
        let waiting = "";
        for (const [word, fails] of steps) {
          waiting += word;
          if (fails) board.failures = [new Error("away")];
          try {
            await board.streams.push(piece(waiting));
            waiting = "";
          } catch {
            // Given again with what comes next.
          }
          board.failures = [];
        }
        await board.streams.push(piece(waiting, { streamEnd: true }));
        assertEquals(board.texts, splitMarkdown(steps.map(([word]) => word).join(""), 60));
      },
    ),
    { numRuns: rounds(300) },
  );
});

Deno.test("close() lets a long piece come to its end at once", async () => {
  const board = new Board(10, 1_000);
  const pushing = board.streams.push(piece("one two three four five six", { streamEnd: true }));
  while (board.clock.timers() === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(board.texts, ["one two"]);
  board.streams.close();
  await pushing;
  assertEquals(board.texts, ["one two", "three four", "five six"]);
  assertEquals(board.clock.timers(), 0);
});

Deno.test("push() gives a post again under its key, and edits what the platform has of the first try", async () => {
  const board = new Board(100, 0, true);
  board.failures.push(new Error("cut off"));
  await assertRejects(() => board.streams.push(piece("one")));
  await board.streams.push(piece("one two", { streamEnd: true }));
  assertEquals([new Set(board.keys).size, board.keys.length], [1, 2]);
  // The post that came through may have the words of the first, so that they are set once more.
  assertEquals([board.texts, board.calls], [["one two"], 3]);
});
