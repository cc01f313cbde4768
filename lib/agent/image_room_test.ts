import { assertEquals } from "@std/assert";
import { hangs, says, scriptedModel } from "./testing/scripted_model.ts";
import { eventsOf, only, testAgent, textOf, until } from "./testing/test_agent.ts";
import { type ImagePlace, ImageRoom } from "./image_room.ts";

async function isIn({ entered }: ImagePlace): Promise<boolean> {
  return await Promise.race([entered.then(() => true), Promise.resolve().then(() => false)]);
}

Deno.test("ImageRoom lets in what fits, in the order of asking, and the rest as room comes", async () => {
  const room = new ImageRoom(100);
  const [first, second, third, fourth] = [60, 50, 10, 40].map((bytes) => room.take(bytes));
  assertEquals([await isIn(first!), await isIn(second!)], [true, false]);
  // It would fit, but stands behind one that does not.
  assertEquals(await isIn(third!), false);
  first!.leave();
  first!.leave();
  assertEquals(await Promise.all([second!, third!, fourth!].map(isIn)), [true, true, true]);
  assertEquals(room.bytes, 100);
});

Deno.test("ImageRoom lets in what is larger than all of it, alone", async () => {
  const room = new ImageRoom(100);
  const large = room.take(500);
  const small = room.take(1);
  assertEquals([await isIn(large), await isIn(small)], [true, false]);
  large.leave();
  assertEquals(await isIn(small), true);
});

Deno.test("ImageRoom forgets one that gives up while it waits", async () => {
  const room = new ImageRoom(100);
  const first = room.take(100);
  const second = room.take(100);
  const third = room.take(10);
  second.leave();
  first.leave();
  assertEquals(await isIn(third), true);
  third.leave();
  assertEquals(room.bytes, 0);
});

Deno.test("turns with images wait for room before the model is asked, and not against their time", async () => {
  const model = scriptedModel([hangs(), says("second"), says("third")]);
  await using agent = testAgent({ model, maxLoadedImageBytes: 10 });
  const image = { type: "image" as const, mediaType: "image/png", bytes: new Uint8Array(10) };
  const ask = (session: string, more = {}) =>
    agent.submit("look", { sessionKey: `test:${session}`, input: [image], ...more });
  const first = await ask("a");
  await model.asked(1);
  const second = await ask("b", { timeoutMs: 1_000 });
  const third = await ask("c");
  await until(third, "turn_start");
  // What is text alone needs no room.
  assertEquals(textOf(await agent.ask("hi", { sessionKey: "test:d" })), "second");
  agent.clock.tick(5_000);
  third.cancel();
  assertEquals(only(await eventsOf(third), "turn_end")[0]!.status, "cancelled");
  assertEquals(model.requests.length, 2);
  first.cancel();
  assertEquals(textOf(await eventsOf(second)), "third");
});
