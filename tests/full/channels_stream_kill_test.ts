/** kill -9 while answers are streamed to a channel (W1, C27). */

import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { Happenings } from "../support/happenings.ts";
import { makeHome } from "../support/home.ts";
import { outboxOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { type WebhookEvent, WebhookSide } from "../support/webhook_side.ts";
import { rounds } from "../support/rounds.ts";

const COUNT = rounds(40, 12);
const KILLS = rounds(5, 2);
const MAX_BETWEEN = 80;

const wordsOf = (text: string) => Array.from({ length: 30 }, (_, at) => `${text}w${at} `);

/** Whether a text is a piece of the answer to that message. */
const isOf = (text: string, id: string) => text.includes(`q${id}w`);

/** Texts of streams, each piece at its place, and of messages, each once. */
function shownOf(events: readonly WebhookEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const { type, id, stream_id, offset = 0, text } of events) {
    const key = type === "delta" ? stream_id! : id;
    const before = texts.get(key) ?? "";
    assert(type !== "delta" || offset <= before.length, `a piece is missing before ${text}`);
    texts.set(key, before.slice(0, offset) + text);
  }
  return [...texts.values()];
}

Deno.test("kill -9 in the middle of streams: each answer stands whole in its chat at last, and what was cut off is known", async () => {
  await using model = startModelServer({
    script: (request) => ({ text: wordsOf(said(request)), delayMs: 3 }),
  });
  const happenings = new Happenings();
  await using side = await WebhookSide.open(happenings);
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { webhook: { ...side.section, streaming: true } },
  });
  /** Of which nobody knows whether they have arrived: pieces too. */
  let unsure = await outboxOf(home, ["unknown"]);
  /** An answer that was begun and cut off is begun again by its turn, and comes whole then. */
  const isWhole = (id: string) => {
    const whole = wordsOf(`q${id}`).join("");
    const shown = shownOf(side.events.filter(({ reply_to }) => reply_to === id));
    const cut = unsure.map(({ text }) => text).filter((text) => isOf(text, id));
    // The rest of a cut stream is a message of its own, behind the piece that nobody knows of.
    const [first = "", ...rest] = shown;
    return shown.some((text) => text === whole) ||
      [first, ...rest].join("").endsWith(whole) ||
      [first, ...cut, ...rest].join("").includes(whole) ||
      cut.some((piece) => [first.slice(0, -piece.length), piece, ...rest].join("") === whole);
  };

  const ids: string[] = [];
  const allWhole = () => {
    const whole = ids.filter(isWhole).length;
    while (ids.length < COUNT && ids.length < whole + 8) {
      const id = String(ids.length);
      ids.push(id);
      void side.say({ id, chat: `c${ids.length % 4}`, text: `q${id}` });
    }
    return whole === COUNT;
  };
  for (let kills = 0;; kills++) {
    await using gateway = await home.start(["gateway", "--json"]);
    unsure = await outboxOf(home, ["unknown"]);
    const until = happenings.count + Math.ceil(Math.random() * MAX_BETWEEN);
    await happenings.until(() => allWhole() || (kills < KILLS && happenings.count >= until));
    if (!allWhole()) {
      await gateway.kill();
      continue;
    }
    for (const { error, text } of unsure) {
      assert(error !== undefined && ids.some((id) => isOf(text, id)));
    }
    assertEquals(await outboxOf(home, ["pending", "sending", "dead"]), []);
    return;
  }
});
