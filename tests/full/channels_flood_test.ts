/** More messages than can be worked on: slowed or refused, and none that was taken is lost (C24, C34). */

import { assertEquals, assertGreater } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { turnsOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { WebhookSide } from "../support/webhook_side.ts";
import { rounds } from "../support/rounds.ts";

/** Connections of who floods: more than the channel takes in at once. */
const PARALLEL = 400;

/** Turns of a session that may wait. */
const IN_SESSION = 64;
const COUNT = rounds(5_000, 2_500);

Deno.test("(C24) (C34) of thousands of messages to one chat none that is taken is lost, and another chat is answered meanwhile", async () => {
  const open = Promise.withResolvers<void>();
  await using model = startModelServer({
    async script(request) {
      const text = said(request);
      if (text.startsWith("flood")) await open.promise;
      return { text: `re ${text}` };
    },
  });
  await using side = await WebhookSide.open();
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { webhook: side.section },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  await side.connected();

  const statuses = new Map<number, number>();
  const taken = new Set<string>();
  let next = 0;
  const flood = Promise.all(Array.from({ length: PARALLEL }, async () => {
    // On a busy machine all may be told to come later before 64 have got in: they come later.
    while (next < COUNT || taken.size <= IN_SESSION) {
      if (next >= COUNT) await new Promise((later) => setTimeout(later, 20));
      const text = `flood ${next++}`;
      // Connections beyond those that are taken are cut.
      const { status } = await side.post({ id: text.replace(" ", ""), chat: "flood", text })
        .catch(() => ({ status: 0 }));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 202) taken.add(`re ${text}`);
    }
  }));
  // The first is at work, and stays so.
  await model.request(0);
  for (let at = 0; at < 5; at++) {
    await side.say({ id: `other${at}`, chat: "other", text: `other ${at}` });
    await side.taken("other", at + 1);
  }
  assertEquals(side.texts("flood"), []);
  open.resolve();
  await flood;
  await side.taken("flood", taken.size);

  assertEquals(side.texts("flood").length, taken.size);
  assertEquals(new Set(side.texts("flood")), taken);
  assertEquals([...statuses.keys()].filter((each) => ![0, 202, 429, 503].includes(each)), []);
  // Told to come later, for this chat or for all.
  assertGreater((statuses.get(429) ?? 0) + (statuses.get(503) ?? 0), 0);
  // So many wait in the session, and some were held until there was room.
  assertGreater(taken.size, IN_SESSION);
  const turns = await turnsOf(home);
  assertEquals([turns.get("webhook:flood"), turns.get("webhook:other")], [taken.size, 5]);
  assertEquals(await gateway.stop(), 0, gateway.log());
});
