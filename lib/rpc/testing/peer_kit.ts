/**
 * What holds between two peers whatever carries their frames; each transport runs all of it.
 *
 * @module
 */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Need, needs } from "../../../tests/support/needs.ts";
import { call, type Handlers, notice } from "../endpoint.ts";
import { Peer, PeerFault, plainErrors } from "../peer.ts";
import { type Frame, type Transport, WINDOW } from "../transport.ts";

/** Two ends that hear each other. */
export interface TransportPair {
  a: Transport;
  b: Transport;
  close(): Promise<void>;
}

const ANSWERS = {
  calls: {
    echo: call<unknown, unknown>(),
    double: call<number, number>({
      params(value) {
        if (typeof value !== "number") throw new Error("expected a number");
        return value;
      },
      result(value) {
        if (typeof value !== "number") throw new Error("expected a number");
        return value;
      },
    }),
    count: call<number, string, number>(),
    hurry: call<number, null, number>(),
    length: call<null, number>(),
    back: call<null, null, Uint8Array>(),
    wait: call<null, never>(),
    farewell: call<number, string, string>(),
    fail: call<string, never>(),
  },
  notices: { said: notice<string>() },
};
const NOTHING = { calls: {}, notices: {} };
const ERRORS = plainErrors(1_000);

type Answers = typeof ANSWERS;

/** What the end that answers has seen. */
interface Seen {
  said: string[];
  aborted: string[];
}

function handlers(seen: Seen): Handlers<Answers> {
  return {
    calls: {
      echo: (value) => value,
      double: (value) => 2 * value,
      async count(upTo, { progress, signal }) {
        for (let number = 1; number <= upTo && !signal.aborted; number++) await progress(number);
        return signal.aborted ? "cancelled" : "counted";
      },
      hurry(upTo, { progress }) {
        for (let number = 1; number <= upTo; number++) void progress(number);
        return null;
      },
      length: (_, { bytes }) => bytes?.length ?? -1,
      async back(_, { bytes, progress }) {
        for (const byte of bytes!) await progress(new Uint8Array([byte, byte]));
        return null;
      },
      wait: (_, { signal }) =>
        new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => {
            seen.aborted.push((signal.reason as Error).message);
            reject(signal.reason);
          })
        ),
      async farewell(size, { progress, signal }) {
        await progress("here");
        if (!signal.aborted) await new Promise((stopped) => signal.onabort = stopped);
        for (let word = 0; word < size; word++) await progress(`word ${word}`);
        return "gone";
      },
      fail: (message) => {
        throw message === "fault" ? new PeerFault("it is at fault") : new Error(message);
      },
    },
    notices: { said: (text) => void seen.said.push(text) },
  };
}

/** Registers the tests for a transport; `all`: what it needs of the machine. */
export function peerKit(
  name: string,
  open: () => Promise<TransportPair>,
  ...all: Need[]
): void {
  const test = (
    what: string,
    run: (
      asking: Peer<typeof NOTHING, Answers>,
      seen: Seen,
      b: Peer<Answers, typeof NOTHING>,
    ) => Promise<void>,
    limits: { maxCalls?: number; maxAnswering?: number } = {},
  ) =>
    Deno.test(needs(`Peer over ${name} ${what}`, ...all), async () => {
      const pair = await open();
      const seen: Seen = { said: [], aborted: [] };
      const none = { calls: {}, notices: {} };
      const b = new Peer({
        transport: pair.b,
        mine: ANSWERS,
        theirs: NOTHING,
        handlers: handlers(seen),
        errors: ERRORS,
        maxAnswering: limits.maxAnswering,
      });
      const a = new Peer({
        transport: pair.a,
        mine: NOTHING,
        theirs: ANSWERS,
        handlers: none,
        errors: ERRORS,
        maxCalls: limits.maxCalls,
      });
      try {
        await run(a, seen, b);
      } finally {
        a.close("the test is over");
        b.close("the test is over");
        await pair.close();
      }
    });
  /** Against an end that says whatever it likes. */
  const raw = (
    what: string,
    run: (b: Transport, a: Peer<Answers, Answers>) => Promise<void>,
    { isStrict = false } = {},
  ) =>
    Deno.test(needs(`Peer over ${name} ${what}`, ...all), async () => {
      const pair = await open();
      const seen: Seen = { said: [], aborted: [] };
      const a = new Peer({
        transport: pair.a,
        mine: ANSWERS,
        theirs: ANSWERS,
        handlers: handlers(seen),
        errors: ERRORS,
        isStrict,
      });
      try {
        await run(pair.b, a);
      } finally {
        a.close("the test is over");
        pair.b.close();
        await pair.close();
      }
    });

  test("answers calls, each with its own answer, and tells of errors", async (a) => {
    const numbers = Array.from({ length: 200 }, (_, index) => index);
    assertEquals(
      await Promise.all(numbers.map((number) => a.call("double", number))),
      numbers.map((number) => 2 * number),
    );
    await assertRejects(() => a.call("fail", "it broke"), Error, "it broke");
    await assertRejects(() => a.call("double", "x" as never), Error, "expected a number");
    assertEquals(await a.call("echo", { ä: ["\u0000", null] }), { ä: ["\u0000", null] });
    assertEquals(a.underWay, 0);
  });

  test("tells progress in order before the answer", async (a) => {
    const numbers: number[] = [];
    const answer = await a.call("count", 500, {
      onProgress: (number) => void numbers.push(number),
    });
    assertEquals([answer, numbers.length, numbers.at(-1)], ["counted", 500, 500]);
  });

  test("gives a stream no faster than it is read, and cancels what is left", async (a, seen) => {
    let sum = 0;
    for await (const number of a.stream("count", 1_000, { maxWaiting: 4 })) sum += number;
    assertEquals(sum, 500_500);
    for await (const number of a.stream("count", 1_000_000_000, { maxWaiting: 4 })) {
      if (number === 10) break;
    }
    assertEquals(await a.call("echo", "still there"), "still there");
    assertEquals(seen.aborted, []);
  });

  test("cancels, and times out, and the other end hears of it", async (a, seen) => {
    const controller = new AbortController();
    const waiting = a.call("wait", null, { signal: controller.signal });
    controller.abort(new Error("no more"));
    await assertRejects(() => waiting, Error, "no more");
    await assertRejects(() => a.call("wait", null, { timeoutMs: 10 }), Error, "no answer within");
    await assertRejects(
      () => a.call("wait", null, { signal: controller.signal }),
      Error,
      "no more",
    );
    await a.call("echo", 1);
    assertEquals(seen.aborted, ["cancelled", "cancelled"]);
    assertEquals(a.underWay, 0);
  });

  test("stops a call, and hears all that it still says", async (a) => {
    const controller = new AbortController();
    const heard: string[] = [];
    const telling = a.stream("farewell", 3 * WINDOW, { stop: controller.signal });
    for (let next = await telling.next();; next = await telling.next()) {
      if (next.done) {
        assertEquals(next.value, "gone");
        break;
      }
      heard.push(next.value);
      controller.abort();
    }
    assertEquals([heard[0], heard.length], ["here", 1 + 3 * WINDOW]);
    assertEquals(await a.call("farewell", 0, { stop: controller.signal }), "gone");
  });

  test("gives up a call that it has stopped", async (a) => {
    for await (const word of a.stream("farewell", 3 * WINDOW, { stop: AbortSignal.abort() })) {
      if (word === "word 1") break;
    }
    assertEquals(await a.call("echo", "still there"), "still there");
    assertEquals(a.underWay, 0);
  });

  test("sends what was said before it closes", async (a, seen, b) => {
    for (let times = 0; times < 500; times++) a.notify("said", "x".repeat(1_000));
    a.notify("said", "bye");
    if (name === "a message port") await a.call("echo", 1);
    a.close();
    if (name !== "a message port") await b.ended;
    assertEquals([seen.said.length, seen.said.at(-1)], [501, "bye"]);
  });

  test("carries bytes beside a call, and as what it tells", async (a) => {
    assertEquals(await a.call("length", null, { bytes: new Uint8Array(3_000_000) }), 3_000_000);
    assertEquals(await a.call("length", null, { bytes: new Uint8Array() }), 0);
    assertEquals(await a.call("length", null), -1);
    const told: number[] = [];
    await a.call("back", null, {
      bytes: new Uint8Array(200).map((_, at) => at),
      onProgress: (bytes) => void told.push(...bytes),
    });
    assertEquals([told.length, told[0], told.at(-1)], [400, 0, 199]);
  });

  test("keeps the order of notices and calls", async (a, seen) => {
    for (const text of ["one", "two", "three"]) a.notify("said", text);
    await a.call("echo", null);
    assertEquals(seen.said, ["one", "two", "three"]);
  });

  test("refuses calls over the bound of either end", async (a) => {
    const waiting = [1, 2].map(() => a.call("wait", null).catch((error: Error) => error.message));
    await assertRejects(() => a.call("echo", 1), Error, "2 calls are under way");
    a.close("over");
    assertEquals(await Promise.all(waiting), ["over", "over"]);
  }, { maxCalls: 2 });

  test("refuses more than it answers at once", async (a) => {
    const waiting = a.call("wait", null).catch(() => {});
    await assertRejects(() => a.call("echo", 1), Error, "1 calls are under way");
    a.close("over");
    await waiting;
  }, { maxAnswering: 1 });

  test(
    "rejects what waits, and aborts what is answered, when the other end goes",
    async (a, seen, b) => {
      const waiting = a.call("wait", null);
      waiting.catch(() => {});
      await a.call("echo", 1);
      b.close("it was told to");
      assertEquals(seen.aborted, ["it was told to"]);
      assertEquals(await b.ended, { reason: "it was told to", isLost: false });
      // A port has no end of its own; who owns it knows.
      if (name === "a message port") a.close("it has ended");
      await assertRejects(() => waiting, Error, "it has ended");
      await assertRejects(() => a.call("echo", 1), Error, "it has ended");
    },
  );

  const wrong: [string, unknown, string][] = [
    ["no frame", [], "it said no known frame"],
    ["a frame that nobody knows", { type: "hello" }, "it said no known frame"],
    ["a number below one", { type: "cancel", id: 0 }, "it said no known frame"],
    ["an answer to nothing", { type: "answer", id: 1 }, "it answered a call that nobody made"],
    ["an unknown notice", { type: "notice", name: "toString" }, 'it told of "toString"'],
  ];
  for (const [what, said, reason] of wrong) {
    raw(`ends an end that says ${what}`, async (b, a) => {
      b.open(() => {}, () => {});
      b.send(said as Frame);
      assertEquals(await a.ended, { reason, isLost: true });
    });
  }

  raw("ends an end that tells more progress than it may", async (b, a) => {
    b.open((frame) => {
      const { id } = frame as { id: number };
      for (let value = 0; value < WINDOW + 1; value++) b.send({ type: "progress", id, value });
    }, () => {});
    const never = new Promise<void>(() => {});
    await assertRejects(
      () => a.call("count", 1, { onProgress: () => never }),
      Error,
      "it told more",
    );
  });

  test("sends what was told and not awaited before the answer", async (a) => {
    const told: number[] = [];
    await a.call("hurry", 1_000, { onProgress: (number) => void told.push(number) });
    assertEquals([told.length, told.at(-1)], [1_000, 1_000]);
  });

  raw("ends an end that calls twice under a number", async (b, a) => {
    b.open(() => {}, () => {});
    for (let times = 0; times < 2; times++) b.send({ type: "call", id: 1, method: "wait" });
    assertEquals((await a.ended).reason, "it called twice under the number 1");
  });

  for (
    const [what, method, params, reason] of [
      ["nobody answers", "operate", null, 'it asked for "operate"'],
      ["has wrong parameters", "double", "two", "the parameters of double"],
      ["its handler calls a fault", "fail", "fault", "it is at fault"],
    ] as const
  ) {
    raw(`ends an end that isn't trusted at a call that ${what}`, async (b, a) => {
      b.open(() => {}, () => {});
      b.send({ type: "call", id: 1, method, params });
      const end = await a.ended;
      assertStringIncludes(end.reason, reason);
      assertEquals(end.isLost, true);
    }, { isStrict: true });
  }

  raw("ends an end that answers in another shape", async (b, a) => {
    b.open((frame) => {
      const { id, method } = frame as { id: number; method: string };
      if (method === "double") b.send({ type: "answer", id, result: "four" });
    }, () => {});
    await assertRejects(() => a.call("double", 2), Error, "the answer to double");
    assertEquals((await a.ended).isLost, true);
  });

  raw("answers an unknown method with an error, whatever its name", async (b) => {
    const answers: unknown[] = [];
    const two = Promise.withResolvers<void>();
    b.open((frame) => {
      if (answers.push(frame) === 2) two.resolve();
    }, () => {});
    b.send({ type: "call", id: 1, method: "constructor" });
    b.send({ type: "call", id: 2, method: "__proto__" });
    await two.promise;
    assertEquals(answers, [
      { type: "error", id: 1, error: "constructor is not answered here" },
      { type: "error", id: 2, error: "__proto__ is not answered here" },
    ]);
  });
}
