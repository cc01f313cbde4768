/** One gateway with a channel for every platform: what holds of all of them, seen from outside. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import type { XmppPlatform } from "../../channels/xmpp/testing/xmpp_platform.ts";
import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { channelStatuses, outboxOf, turnsOf } from "../support/outbox_of.ts";
import { type PlatformName, type Platforms, PlatformWorld } from "../support/platform_world.ts";
import { testPlatforms } from "../support/platforms.ts";
import { said } from "../support/said.ts";

/** Words of a long answer, in order: `w0 w1 …`, with lines of code `c0 c1 …` in the middle. */
function longAnswer(chars: number): { text: string; words: string[] } {
  const words: string[] = [];
  const parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  const paragraph = () => {
    for (let at = 0; at < 40; at++) {
      words.push(`w${words.length}`);
      add(`${words.at(-1)} `);
    }
    add("\n\n");
  };
  while (length < chars / 3) paragraph();
  add("```ts\n");
  while (length < 2 * chars / 3) {
    words.push(`c${words.length}`);
    add(`const ${words.at(-1)} = 1;\n`);
  }
  add("```\n\n");
  while (length < chars) paragraph();
  return { text: parts.join("").trimEnd(), words };
}

const wordsIn = (text: string): string[] => text.match(/\b[wc]\d+\b/g) ?? [];

testPlatforms(
  "(C28) a streamed answer arrives once on every platform, and a long one whole and in order",
  async () => {
    const long = longAnswer(15_000);
    assert(long.text.length >= 15_000);
    const deltas = Array.from(
      { length: Math.ceil(long.text.length / 250) },
      (_, at) => long.text.slice(at * 250, (at + 1) * 250),
    );
    await using world = await PlatformWorld.open({
      script: (request) => {
        const text = said(request);
        if (text.includes("long")) return { text: deltas, delayMs: 20 };
        const [name] = /short\d/.exec(text) ?? [];
        return { text: ["once ", "and ", "only ", `once: re ${name}`], delayMs: 20 };
      },
      section: { streaming: true },
    });
    await world.start();
    const timesOf = (name: PlatformName, text: string) => world.textOf(name).split(text).length - 1;
    /** Asks on each; resolves when the answers have come. */
    async function ask(text: string, isThere: (name: PlatformName) => boolean): Promise<void> {
      await Promise.all(world.each.map(async ([name, { deliver, senders: [senderId] }]) => {
        await deliver.call(world.platforms[name], { text, senderId, from: "person" });
        await world.until(() => isThere(name), () => `${name}: ${text}: ${world.textOf(name)}`);
      }));
    }

    await ask("short1", (name) => timesOf(name, "re short1") > 0);
    await ask("long", (name) => wordsIn(world.textOf(name)).includes(long.words.at(-1)!));
    // What comes behind it shows that nothing more comes of the one before.
    await ask("short2", (name) => timesOf(name, "re short2") > 0);
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
    for (const [name, platform] of world.each) {
      assertEquals(wordsIn(world.textOf(name)), long.words, name);
      for (const text of ["re short1", "re short2"]) assertEquals(timesOf(name, text), 1, name);
      const parts = platform.sent().filter(({ text }) => wordsIn(text).length > 0);
      const { max, sizeOf } = platform.limit!;
      for (const part of parts) {
        assert(sizeOf(part) <= max, `${name}: ${sizeOf(part)} of ${max}`);
        if (platform.hasFences) {
          assertEquals(part.text.split("```").length % 2, 1, `${name}: ${part.text}`);
        }
      }
    }
    assertEquals(await outboxOf(world.home, ["pending", "sending", "dead", "unknown"]), []);
  },
);

testPlatforms(
  "(W2) each message that every platform gives three times is one turn and one answer",
  async () => {
    const COUNT = 5;
    await using world = await PlatformWorld.open({
      script: (request) => ({ text: `re ${said(request)}` }),
      section: { streaming: false },
    });
    await world.start();
    const answers = (name: PlatformName) =>
      (world.textOf(name).match(/re m\d+\b/g) ?? []).map((each) => each.slice(3)).sort();
    await Promise.all(world.each.map(async ([name, platform]) => {
      for (let at = 0; at < COUNT; at++) {
        const senderId = platform.senders[at % 2]!;
        await platform.deliver({ text: `m${at}`, senderId, from: "person" });
        await platform.redeliver?.();
        await platform.redeliver?.();
      }
      await world.until(
        () => answers(name).length >= COUNT,
        () => `${name}: ${world.textOf(name)}`,
      );
      // Once more, when all is answered; what comes behind it shows that it was looked at.
      await platform.redeliver?.();
      await platform.deliver({
        text: "m9",
        senderId: platform.senders[(COUNT - 1) % 2]!,
        from: "person",
      });
      await world.until(() => answers(name).includes("m9"), `${name}: m9`);
    }));
    const turns = await turnsOf(world.home);
    for (const [name] of world.each) {
      const own = [...turns].filter(([key]) => key.startsWith(`${name}:`));
      assertEquals(own.reduce((sum, [, count]) => sum + count, 0), COUNT + 1, name);
      assertEquals(answers(name), ["m0", "m1", "m2", "m3", "m4", "m9"], name);
    }
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
  },
);

/** What people are told, in messages and over them. */
function toldIn(world: PlatformWorld, name: PlatformName): string {
  const { telegram, slack } = world.platforms;
  const more = name === "telegram"
    ? telegram.callsOf("answerCallbackQuery").map(({ text }) => String(text))
    : name === "slack"
    ? slack.workspace.whispers.map(({ text }) => text)
    : [];
  return [world.textOf(name), ...more].join("\n");
}

/** How many buttons people see now, where the platform has some. */
const BUTTONS: Partial<Record<PlatformName, (world: PlatformWorld) => number>> = {
  discord: ({ platforms }) =>
    platforms.discord.world.messages.filter(({ components }) => (components ?? []).length > 0)
      .length,
  // Reactions stay where they are; what was asked is not asked any more.
  matrix: ({ platforms }) =>
    platforms.matrix.sent().filter(({ text }) => text.includes("✅")).length,
  mattermost: ({ platforms }) =>
    [...platforms.mattermost.store.posts.values()].filter(({ props, delete_at }) =>
      delete_at === 0 && ((props.attachments ?? []) as { actions?: unknown[] }[])
        .some(({ actions }) => (actions ?? []).length > 0)
    ).length,
  signal: ({ platforms }) =>
    platforms.signal.sent().filter(({ text }) => text.includes("👍")).length,
  slack: ({ platforms }) =>
    platforms.slack.workspace.ofBot().filter(({ message }) =>
      message.blocks?.some(({ type }) => type === "actions")
    ).length,
  telegram: ({ platforms }) =>
    platforms.telegram.shown.filter(({ keyboard }) => keyboard.length > 0).length,
  // There are none, but reactions, for which a message asks.
  whatsapp: ({ platforms }) =>
    platforms.whatsapp.sent().filter(({ text }) => text.includes("👍")).length,
};

testPlatforms(
  "an approval is answered on every platform by a listed sender alone, and its buttons go",
  async () => {
    await using world = await PlatformWorld.open({
      script(request) {
        const last = request.body.messages.at(-1);
        if (last.role === "tool") return { text: `tool said: ${last.content}` };
        const [name] = /\bfile-\w+/.exec(said(request)) ?? [];
        const path = `${world.home.dir}/${name}`;
        return { calls: [{ tool: "write_file", args: { path, content: "allowed" } }] };
      },
      section: { streaming: false },
      sections: { mattermost: { actionsHost: "127.0.0.1", actionsPort: freePort() } },
      config: (platforms) => ({
        gates: {
          approvers: Object.entries(platforms).map(([name, { senders }]) =>
            `${name}:${senders[0]}`
          ),
        },
      }),
    });
    await world.start();
    const issued = await world.home.run(["tokens", "issue", "--scopes", "approve"]);
    const env = { SERVICE_APPROVER_TOKEN: issued.stdout.trim() };
    const written = (name: PlatformName) =>
      Deno.stat(`${world.home.dir}/file-${name}`).then(() => true, () => false);
    const waiting = async () => {
      const { code, stdout, stderr } = await world.home.run(["approvals", "list", "--json"], {
        env,
      });
      assertEquals(code, 0, stderr);
      return stdout.split("\n").filter((line) => line !== "").length;
    };
    /** What an approval of a platform is answered with: its button, else a command. */
    async function answer(name: PlatformName, senderId: string): Promise<void> {
      const platform = world.platforms[name];
      if (name in BUTTONS) return await platform.pressButton!("approve", senderId);
      const [text] = /\/approve \S+ [0-9a-f]{8}/.exec(world.textOf(name)) ?? [];
      assert(text !== undefined, world.textOf(name));
      await platform.deliver({ text, senderId, from: "person" });
    }
    await Promise.all(world.each.map(async ([name, platform]) => {
      await platform.deliver({
        text: `file-${name}`,
        senderId: platform.senders[0],
        from: "person",
      });
      await world.until(
        () =>
          name in BUTTONS ? BUTTONS[name]!(world) > 0 : world.textOf(name).includes("/approve "),
        () => `${name} is not asked: ${world.textOf(name)}`,
      );
    }));
    assertEquals(await waiting(), world.each.length);

    // Somebody who may write, and is no approver.
    await Promise.all(world.each.map(async ([name, { senders }]) => {
      await answer(name, senders[1]);
      await world.until(
        () => toldIn(world, name).includes("does not list this sender"),
        () => `${name} does not refuse: ${world.textOf(name)}`,
      );
      assertEquals(await written(name), false, name);
    }));
    assertEquals(await waiting(), world.each.length);

    await Promise.all(world.each.map(async ([name, { senders }]) => {
      await answer(name, senders[0]);
      await world.until(
        () => world.textOf(name).includes("tool said: "),
        () => `${name} is not answered: ${world.textOf(name)}`,
      );
      assertEquals(await written(name), true, name);
      await world.until(() => (BUTTONS[name]?.(world) ?? 0) === 0, `${name}: its buttons go`);
    }));
    assertEquals(await waiting(), 0);
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
  },
);

/** Ids of Discord hold the milliseconds since then. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** Has somebody write something that is as old as that, where the platform can say so. */
const WRITE_OLD: Partial<Record<PlatformName, (world: PlatformWorld, ageMs: number) => unknown>> = {
  discord: ({ platforms: { discord } }, ageMs) =>
    discord.write("from long ago", {
      more: {
        id: String(BigInt(Date.now() - ageMs - DISCORD_EPOCH_MS) << 22n),
        timestamp: new Date(Date.now() - ageMs).toISOString(),
      },
    }),
  matrix: ({ platforms: { matrix } }, ageMs) =>
    matrix.rooms.add(matrix.chatId, {
      type: "m.room.message",
      sender: matrix.senders[0],
      origin_server_ts: Date.now() - ageMs,
      content: {
        msgtype: "m.text",
        body: "from long ago",
        "m.mentions": { user_ids: [matrix.me] },
      },
    }),
  mattermost: ({ platforms: { mattermost } }, ageMs) =>
    mattermost.write(mattermost.senders[0], "from long ago", { create_at: Date.now() - ageMs }),
  signal: ({ platforms: { signal } }, ageMs) =>
    signal.writeInGroup(signal.senders[0], "from long ago", { timestamp: Date.now() - ageMs }),
  slack: ({ platforms: { slack } }, ageMs) =>
    slack.say(slack.chatId, {
      text: "from long ago",
      user: slack.senders[0],
      ts: ((Date.now() - ageMs) / 1_000).toFixed(6),
    }),
  telegram: ({ platforms: { telegram } }, ageMs) =>
    telegram.say("from long ago", { date: Math.floor((Date.now() - ageMs) / 1_000) }),
  whatsapp: ({ platforms: { whatsapp } }, ageMs) =>
    whatsapp.write(whatsapp.senders[0], { conversation: "from long ago" }, { ageMs }),
};

testPlatforms(
  "what is older than catchUpS is listed and not answered, and the chat is told once",
  async () => {
    await using world = await PlatformWorld.open({
      script: (request) => ({ text: `re ${said(request)}` }),
      section: { streaming: false, catchUpS: 600 },
    });
    await world.start();
    const late = world.each.filter(([name]) => name in WRITE_OLD);
    const timesOf = (name: PlatformName, words: RegExp) =>
      (world.textOf(name).match(words) ?? []).length;
    const TOLD = /came while I was away/g;
    await Promise.all(late.map(async ([name, platform]) => {
      const message = { senderId: platform.senders[0], from: "person" } as const;
      await platform.deliver({ ...message, text: "one" });
      await world.until(() => timesOf(name, /re one/g) === 1, `${name}: the first`);
      await WRITE_OLD[name]!(world, 3_600_000);
      await world.until(() => timesOf(name, TOLD) > 0, () => `${name}: ${world.textOf(name)}`);
      await platform.deliver({ ...message, text: "two" });
      await world.until(() => timesOf(name, /re two/g) === 1, `${name}: the one behind it`);
    }));
    const { code, stdout, stderr } = await world.home.run(["channels", "missed", "--json"]);
    assertEquals(code, 0, stderr);
    const missed = stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    assertEquals(
      missed.map(({ channel }) => channel).sort(),
      late.map(([name]) => name).sort(),
      stdout,
    );
    for (const { text } of missed) assertStringIncludes(text, "from long ago");
    for (const [name] of late) {
      assertEquals([timesOf(name, TOLD), timesOf(name, /re from long ago/g)], [1, 0], name);
    }
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
  },
);

testPlatforms("an outage costs an answer none of its attempts, on every platform", async () => {
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
  await using world = await PlatformWorld.open({
    async script(request) {
      await isOpen;
      return { text: `re ${said(request)}` };
    },
    // One that counts, and an answer is given up.
    section: { streaming: false, sendMaxRetries: 1 },
  });
  // Whatever fails: the model ends when nobody waits for it.
  using _held = { [Symbol.dispose]: open };
  const { discord, matrix } = world.platforms;
  await world.start();
  await Promise.all(
    world.each.map(([, platform]) =>
      platform.deliver({ text: "there?", senderId: platform.senders[0], from: "person" })
    ),
  );
  await world.model.request(world.each.length - 1);
  await Promise.all(world.each.map(([, platform]) => platform.goDown!()));
  open();
  const waiting = async () => {
    const rows = await outboxOf(world.home, ["pending", "sending"]);
    return rows.filter(({ text }) => text.includes("re ")).map(({ channel }) => channel);
  };
  const names = world.each.map(([name]) => name);
  await world.until(
    async () => (await waiting()).length === names.length,
    "the answers wait",
  );
  // Two that can come back at their address.
  matrix.comeUp();
  await discord.comeBack();
  await Promise.all(
    (["discord", "matrix"] as const).map((name) =>
      world.until(() => /re .*there\?/.test(world.textOf(name)), `${name}: the answer`)
    ),
  );
  assertEquals(await outboxOf(world.home, ["dead", "unknown", "expired"]), []);
  const away = names.filter((name) => name !== "discord" && name !== "matrix");
  await world.until(async () => (await waiting()).length === away.length, "the others wait");
  assertEquals((await waiting()).sort(), away.sort());
  assertEquals(await world.gateway.stop(), 0, world.gateway.log());
});

/** How often each was asked for something, with whatever token. */
const REQUESTS: Record<PlatformName, (platforms: Platforms) => number> = {
  discord: ({ discord }) => discord.api.calls.length,
  matrix: ({ matrix }) => matrix.calls.length,
  mattermost: ({ mattermost }) =>
    mattermost.api.requests.length + mattermost.sockets.upgrades.length,
  signal: ({ signal }) => signal.calls.length,
  slack: ({ slack }) => slack.calls.length,
  telegram: ({ telegram }) => telegram.requests,
  whatsapp: ({ whatsapp }) => whatsapp.connections,
  xmpp: ({ xmpp }) => (xmpp as XmppPlatform).connections,
};

testPlatforms(
  "a login that is refused is one clear state, of that channel alone, and the platform is asked no more",
  async () => {
    await using world = await PlatformWorld.open({
      script: (request) => ({ text: `re ${said(request)}` }),
      section: { streaming: false },
    });
    await world.start();
    let questions = 0;
    /** Something is said on each of these and answered. */
    async function talk(names: readonly PlatformName[]): Promise<void> {
      const text = `q${++questions}`;
      await Promise.all(names.map(async (name) => {
        const platform = world.platforms[name];
        await platform.deliver({ text, senderId: platform.senders[0], from: "person" });
        const isThere = () => new RegExp(`re ${text}\\b`).test(world.textOf(name));
        await world.until(isThere, () => `${name}: ${text}: ${world.textOf(name)}`);
      }));
    }
    const running = world.each.map(([name]) => name);
    await talk(running);
    /** Those whose login is refused, and how often each had been asked when that was known. */
    const asked = new Map<PlatformName, number>();
    while (running.length > 0) {
      const name = running.shift()!;
      await world.platforms[name].revoke!();
      // Slack tells nobody: it is known when the token is used.
      if (name === "slack") {
        const { slack } = world.platforms;
        await slack.say(slack.chatId, { text: "still there?", user: slack.senders[0] });
      }
      let statuses = await channelStatuses(world.home);
      await world.until(async () => {
        statuses = await channelStatuses(world.home);
        return statuses.get(name)?.state === "failed";
      }, () => `${name}: ${JSON.stringify(statuses.get(name))}`);
      asked.set(name, REQUESTS[name](world.platforms));
      // Somebody may want to know what to do.
      assertMatch(statuses.get(name)!.problem ?? "", /token|password|account|session/i, name);
      for (const other of running) assertEquals(statuses.get(other)?.state, "running", other);
      await talk(running);
    }
    // The last one has some time as well to ask again, which it may not.
    for (let looks = 0; looks < 3; looks++) {
      const statuses = await channelStatuses(world.home);
      for (const [name, count] of asked) {
        assertEquals(
          [statuses.get(name)?.state, statuses.get(name)?.restarts],
          ["failed", 0],
          name,
        );
        assertEquals(REQUESTS[name](world.platforms), count, `${name} is asked again`);
      }
    }
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
  },
);

testPlatforms(
  "service plugins info and service permissions say of every platform what its manifest says",
  async () => {
    await using world = await PlatformWorld.open({ script: {} });
    const { stdout } = await world.home.run(["permissions", "--json"]);
    const rows: { kind: string; value: string; asked_by: string }[] = JSON.parse(stdout).channels;
    await Promise.all(world.each.map(async ([name]) => {
      const { default: manifest } = await import(`../../channels/${name}/manifest.ts`);
      const { permissions } = manifest as ChannelDescriptor;
      const shown = await world.home.run(["plugins", "info", name, "--json"]);
      assertEquals(shown.code, 0, shown.stderr);
      const info = JSON.parse(shown.stdout);
      assertEquals(info.descriptor.permissions, permissions, name);
      assertEquals([info.enabled, info.configured, info.missing], [true, true, []], name);

      const of = (kind: string) =>
        rows.filter((row) => row.kind === kind && row.asked_by === `channels.${name}`)
          .map(({ value }) => value);
      // Its own, and those that its settings name.
      const values: Record<string, unknown> = info.config_values;
      const own = permissions.hosts.flatMap((entry) => {
        const filled = entry.replace(/\{(\w+)\}/g, (_, field) => String(values[field] ?? ""));
        if (URL.canParse(filled) && filled.includes("://")) return [new URL(filled).host];
        // What is not set names no host.
        return filled === "" || filled.startsWith(":") ? [] : [filled];
      });
      assertEquals(of("net").sort(), own.sort(), name);
      assertEquals(of("env").sort(), [...permissions.variables].sort(), name);
      const data = `${world.home.dir}/home/data/channels/${name}`;
      assertEquals(of("write"), [data], name);
      assert(of("read").includes(data), name);
    }));
  },
);
