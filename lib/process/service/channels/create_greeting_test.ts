import { assertEquals, assertMatch } from "@std/assert";
import type { PairAnswer } from "../../../operations/channels/find_sender.ts";
import { createGreeting } from "./create_greeting.ts";

const ANN = { senderId: "ann", senderName: "Ann", chatId: "c1" };
const SPEC = { runtimeName: "chat" };

function setUp() {
  const said: [chatId: string, content: string][] = [];
  const woken: (string | undefined)[] = [];
  const lines: string[] = [];
  const asked: unknown[] = [];
  let answer: () => Promise<PairAnswer> = () => Promise.resolve({ isAllowed: false });
  let id = 0;
  const line = (message: string) => void lines.push(message);
  const greeting = createGreeting({
    pair: (stranger) => (asked.push(stranger), answer()),
    journal: {
      enqueue: ({ chatId, content }) => (said.push([chatId, content]), Promise.resolve(true)),
    },
    deliveries: { wake: (...[, chatId]) => void woken.push(chatId) },
    randomId: () => `${++id}`,
    log: { info: line, warning: line },
  });
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  return {
    greeting,
    said,
    woken,
    lines,
    asked,
    settled,
    will: (next: typeof answer) => answer = next,
  };
}

Deno.test("greet() tells a stranger the code that is given, and nothing where none is", async () => {
  const { greeting, said, woken, asked, settled, will } = setUp();
  greeting.greet(SPEC, ANN);
  await settled();
  assertEquals([said, asked], [[], [{ runtimeName: "chat", senderId: "ann", senderName: "Ann" }]]);
  will(() => Promise.resolve({ isAllowed: false, code: "k7mp2xwd" }));
  greeting.greet(SPEC, ANN);
  await settled();
  assertEquals([said[0]![0], woken], ["c1", ["c1"]]);
  assertMatch(said[0]![1], /\*\*k7mp2xwd\*\*.*`service channels pair k7mp2xwd`/);
});

Deno.test("welcome() tells those who may write by then, once, and of that channel alone", async () => {
  const { greeting, said, settled, will } = setUp();
  will(() => Promise.resolve({ isAllowed: false, code: "k7mp2xwd" }));
  greeting.greet(SPEC, ANN);
  await settled();
  will(() => Promise.resolve({ isAllowed: true }));
  greeting.welcome("other");
  await settled();
  assertEquals(said.length, 1);
  greeting.welcome("chat");
  await settled();
  greeting.welcome("chat");
  await settled();
  assertEquals(said.slice(1), [["c1", "You may write to me now."]]);
});

Deno.test("greet() logs what goes wrong, and no more", async () => {
  const { greeting, lines, settled, will } = setUp();
  will(() => Promise.reject(new Error("no")));
  greeting.greet(SPEC, ANN);
  await settled();
  assertEquals(lines, ["A stranger could not be told anything"]);
});
