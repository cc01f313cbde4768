import { assertEquals } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { ChatLink, Outcome } from "./chat_link.ts";
import { MessageQueue } from "./message_queue.ts";

/** A queue over a link that accepts what it is told to, when it is told to. */
function makeQueue() {
  const asked: { text: string; stop: AbortSignal; accept: PromiseWithResolvers<Outcome> }[] = [];
  const happened: string[] = [];
  const state = { isConnected: true };
  const link = {
    say(_session, [part], stop) {
      const accept = Promise.withResolvers<Outcome>();
      stop.addEventListener("abort", () => accept.reject(stop.reason));
      asked.push({ text: part!.type === "text" ? part!.text : "", stop, accept });
      return accept.promise;
    },
  } as Pick<ChatLink, "say"> as ChatLink;
  const queue = new MessageQueue({
    link: () => state.isConnected ? link : undefined,
    sessionKey: () => "cli:a",
    isFree: () => true,
    echo: (text) => happened.push(`> ${text}`),
    note: (text) => happened.push(text),
    answer: (text) => Promise.resolve(void happened.push(text)),
    report: (error) => happened.push(`error: ${(error as Error).message}`),
    giveBack: (text) => happened.push(`back: ${text}`),
    update() {},
  });
  return { queue, asked, happened, state };
}

const turn = (turnId: string): Outcome => ({ turnId });

/** Until what was settled has been seen to. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("MessageQueue sends one message after the other, and commands at once", async () => {
  const { queue, asked, happened } = makeQueue();
  queue.add("one");
  queue.add("two");
  await settled();
  asked[0]!.accept.resolve(turn("t1"));
  await settled();
  assertEquals([asked.map(({ text }) => text), queue.waiting], [["one"], ["two"]]);
  const command = queue.command("/status");
  asked[1]!.accept.resolve({ answer: "all is well" });
  await command;
  queue.ended("t1");
  await settled();
  assertEquals(asked.map(({ text }) => text), ["one", "/status", "two"]);
  assertEquals(happened, ["> one", "> /status", "all is well", "> two"]);
});

Deno.test("MessageQueue keeps what waits over a lost connection, and gives back what was not accepted", async () => {
  const { queue, asked, happened, state } = makeQueue();
  queue.add("one");
  queue.add("two");
  await settled();
  state.isConnected = false;
  queue.forgetSent();
  asked[0]!.accept.reject(new ServiceError("draining", "gone"));
  await settled();
  assertEquals(happened, ["> one", "error: gone", "back: one"]);
  assertEquals([asked.length, queue.waiting], [1, ["two"]]);
  state.isConnected = true;
  queue.sendNext();
  await settled();
  assertEquals(asked[1]!.text, "two");
});

Deno.test("MessageQueue cancels what is on its way, and says whose turn runs", async () => {
  const { queue, asked, happened } = makeQueue();
  queue.add("one");
  await settled();
  assertEquals(queue.cancel("of another"), false);
  await settled();
  assertEquals(happened, ["> one", "Stopped", "back: one"]);
  queue.add("two");
  await settled();
  asked[1]!.accept.resolve(turn("t2"));
  await settled();
  assertEquals([queue.cancel("t2"), asked[1]!.stop.aborted, queue.takeBack()], [true, true, []]);
});
