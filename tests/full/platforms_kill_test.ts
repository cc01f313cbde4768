/** kill -9 while every channel of a platform takes messages in and sends answers out (W1, W2). */

import { assert, assertEquals, assertGreater } from "@std/assert";
import type { ChannelPlatform } from "../../lib/channel/testing/mod.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "../support/home.ts";
import { channelStatuses, outboxOf, turnsOf } from "../support/outbox_of.ts";
import { PLATFORMS, preparePlatforms, testPlatforms } from "../support/platforms.ts";
import { said } from "../support/said.ts";
import { FULL_RUN } from "../support/rounds.ts";

/** Messages on each platform, and how many of them may be without an answer. */
const COUNT = 20;
const AHEAD = 5;

const KILLS = 5;
/** Answers between two kills, at most. */
const MAX_BETWEEN = 25;

const PATIENCE_MS = 180_000;

testPlatforms(
  "(W1) (W2) kill -9 at random instants with every platform's channel at work: each message is answered once, though each came three times",
  async () => {
    const platforms = new Map<string, ChannelPlatform>();
    try {
      for (const [name, open] of Object.entries(PLATFORMS)) {
        // signal-cli takes no acknowledgement: what it has written to a process that dies is lost.
        if (name !== "signal") platforms.set(name, await open());
      }
      await tryKills(platforms);
    } finally {
      await Promise.all([...platforms.values()].map((platform) => platform.close()));
    }
  },
  FULL_RUN,
);

async function tryKills(platforms: ReadonlyMap<string, ChannelPlatform>): Promise<void> {
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  const sections = [...platforms].map(([name, { section, senders }]) =>
    [name, { enabled: true, ...section, allowFrom: [...senders], streaming: false }] as const
  );
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { sendProgress: false, ...Object.fromEntries(sections) },
  });

  await preparePlatforms(home, platforms);

  const deadline = AbortSignal.timeout(PATIENCE_MS);
  /** Numbers of the answers that have arrived, in order. */
  const came = (name: string) =>
    platforms.get(name)!.sent().flatMap(({ text }) => {
      const [, number] = /re t(\d+)\b/.exec(text) ?? [];
      return number === undefined ? [] : [Number(number)];
    });
  const unsure = new Map([...platforms.keys()].map((name) => [name, new Set<number>()]));
  const known = (name: string) => new Set([...came(name), ...unsure.get(name)!]);

  const talk = async (name: string, platform: ChannelPlatform) => {
    for (let at = 0; at < COUNT; at++) {
      await until(
        () => known(name).size >= at - AHEAD,
        deadline,
        () => `${name}: answer ${at - AHEAD}`,
      );
      await platform.deliver({
        text: `t${at}`,
        senderId: platform.senders[at % 2]!,
        from: "person",
      });
      for (let again = 0; again < 2; again++) await platform.redeliver?.();
    }
  };
  let talked: Promise<unknown> | undefined;

  const names = [...platforms.keys()];
  const missing = (name: string) =>
    Array.from({ length: COUNT }, (_, at) => at).filter((at) => !known(name).has(at));
  const isDone = () => names.every((name) => known(name).size === COUNT);
  const total = () => names.reduce((sum, name) => sum + known(name).size, 0);
  let kills = 0;
  let gateway: Running | undefined;
  try {
    while (!isDone()) {
      gateway = await home.start(["gateway", "--json"]);
      if (talked === undefined) {
        // Each has begun: what was written before its first start is nothing to a channel.
        while (!await areConnected(home, names)) assert(!deadline.aborted, gateway.log());
        talked = Promise.all([...platforms].map(([name, platform]) => talk(name, platform)));
        // What fails is seen at the end; until then it must not end the process.
        talked.catch(() => {});
      }
      // Nothing but a death makes something unsure.
      for (const { channel, text } of await outboxOf(home, ["unknown"])) {
        const [, number] = /^re t(\d+)$/.exec(text) ?? [];
        if (number !== undefined) unsure.get(channel)?.add(Number(number));
      }
      const enough = total() + 1 + Math.floor(Math.random() * MAX_BETWEEN);
      await until(
        () => isDone() || (kills < KILLS && total() >= enough),
        deadline,
        () =>
          `${names.map((name) => `${name} lacks ${missing(name)}`).join("; ")}
${gateway!.log()}`,
      );
      if (isDone()) break;
      kills += 1;
      await gateway.kill();
    }
    await talked;
    const statuses = await channelStatuses(home);
    const turns = await turnsOf(home);
    assertEquals(await outboxOf(home, ["pending", "sending", "dead", "expired"]), []);
    for (const name of names) {
      assertEquals(statuses.get(name)?.state, "running", name);
      const own = [...turns].filter(([key]) => key.startsWith(`${name}:`));
      assertEquals(own.reduce((sum, [, count]) => sum + count, 0), COUNT, `${name}: turns`);
      const times = Map.groupBy(came(name), (number) => number);
      for (const [number, { length }] of times) {
        const isKnown = length === 1 || unsure.get(name)!.has(number);
        assert(isKnown, `${name}: answer ${number} came ${length} times`);
      }
    }
    assertGreater(kills, 0);
    assertEquals(await gateway!.stop(), 0, gateway!.log());
  } finally {
    await gateway?.[Symbol.asyncDispose]();
  }
}

async function areConnected(home: TestHome, names: readonly string[]): Promise<boolean> {
  const statuses = await channelStatuses(home);
  return names.every((name) => statuses.get(name)?.detail?.startsWith("connected as"));
}

/** A platform does not say that something has come: it is looked at again and again. */
async function until(
  holds: () => boolean,
  deadline: AbortSignal,
  what: () => string,
): Promise<void> {
  while (!holds()) {
    if (deadline.aborted) throw new Error(`Waited too long: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
