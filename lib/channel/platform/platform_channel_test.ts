import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { PackageConfig } from "../base_channel.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../delivery_error.ts";
import { FakeHost } from "../testing/mod.ts";
import type { ClickOutcome, PlatformDriver, PlatformSession, Posting } from "./driver.ts";
import { PlatformChannel } from "./platform_channel.ts";

/** What the pager fails with. */
class PagerError extends Error {}

/** A platform in memory: what it is told, and what it does next. */
class Pager {
  readonly posts: { text: string; kind: string; files: number; buttons: number }[] = [];
  /** What the next logins, connections and posts fail with. */
  readonly openFailures: unknown[] = [];
  readonly postFailures: unknown[] = [];
  session!: PlatformSession<string>;
  ending = Promise.withResolvers<string | undefined>();
  /** With how often it was shown as typing by then. */
  readonly handedOn: [text: string, typing: number][] = [];
  typing = 0;
  hasButtons = true;
  opened = 0;
  connected = 0;
}

class PagerChannel extends PlatformChannel<PackageConfig, string, number> {
  protected readonly platform = "Pager";
  readonly pager = new Pager();

  protected open(session: PlatformSession<string>): Promise<PlatformDriver<string, number>> {
    const { pager } = this;
    pager.opened += 1;
    pager.session = session;
    const failure = pager.openFailures.shift();
    if (failure !== undefined) return Promise.reject(failure);
    const shown = ({ text, kind, files, buttons }: Posting) => ({
      ...{ text, kind },
      ...{ files: files.length, buttons: buttons?.length ?? 0 },
    });
    return Promise.resolve({
      connect(signal, ready) {
        pager.connected += 1;
        const ending = pager.ending = Promise.withResolvers();
        signal.addEventListener("abort", () => ending.resolve(undefined), { once: true });
        ready("@pager");
        return pager.ending.promise;
      },
      read: (text) => ({
        ...{ chatId: "room", messageId: text, senderId: "ann", metadata: {} },
        content: text === "a file alone" ? "" : text,
        files: text.includes("a file")
          ? [{ name: "big.iso", bytes: text.includes("honest") ? 1 : 9e6, ref: 1 }]
          : [],
      }),
      fetchFile: () => Promise.resolve(undefined),
      handedOn: (text) => Promise.resolve(pager.handedOn.push([text, pager.typing])),
      typing: {
        everyMs: 1_000,
        show: () => Promise.resolve(pager.typing += 1),
      },
      split: (text) => text.trim() === "" ? [] : [text],
      post(posting) {
        const failure = pager.postFailures.shift();
        if (failure !== undefined) return Promise.reject(failure);
        return Promise.resolve(pager.posts.push(shown(posting)) - 1);
      },
      edit(ref, { text }) {
        pager.posts[ref] = { ...pager.posts[ref]!, text, buttons: 0 };
        return Promise.resolve();
      },
      removeNote: (ref) => Promise.resolve(delete pager.posts[ref]),
      editEveryMs: () => 0,
      hasButtons: () => pager.hasButtons,
      files: { maxBytes: 10 },
    });
  }

  protected override classify(error: unknown): unknown {
    return error instanceof PagerError ? new NotConnectedError(error.message) : error;
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((again) => setTimeout(again, 1));
}

/** Runs a test on a channel that has a host and a pager of its own. */
async function withPager(
  run: (
    test: { host: FakeHost; channel: PagerChannel; pager: Pager; ended: () => unknown },
  ) => Promise<void>,
  openFailures: unknown[] = [],
): Promise<void> {
  const host = await FakeHost.open({ name: "pager" });
  const channel = new PagerChannel({ allowFrom: ["*"] }, host);
  channel.pager.openFailures.push(...openFailures);
  let ended: unknown;
  const started = channel.start().catch((error) => void (ended = error));
  try {
    await run({ host, channel, pager: channel.pager, ended: () => ended });
  } finally {
    await channel.stop();
    await started;
    await host.close();
  }
}

const send = (channel: PagerChannel, content: string, more = {}) =>
  channel.send({
    ...{ id: content, channel: "pager", chatId: "room", content, media: [], metadata: {} },
    ...more,
  });

Deno.test("PlatformChannel connects again after 1, 2 … s, and as late as the platform says", async () => {
  await withPager(async ({ host, pager, channel }) => {
    const waits = () => host.lines.map(({ fields }) => Number(fields?.waitMs));
    await until(() => waits().length === 1);
    await assertRejects(() => send(channel, "x"), NotConnectedError, "the line is dead");
    assertMatch(host.details.at(-1)!, /^not connected: the line is dead; again in \d s$/);
    host.clock.tick(2_000);
    await until(() => waits().length === 2);
    host.clock.tick(30_000);
    await until(() => pager.connected === 1);
    assertEquals(host.details.at(-1), "connected as @pager");
    pager.ending.resolve("it hung up");
    await until(() => waits().length === 3);
    const [first, second, third] = waits() as [number, number, number];
    assert(first >= 1_000 && first <= 1_250, `${first}`);
    assertEquals(second, 30_000);
    assert(third >= 4_000, `${third}`);
    // The driver stays: somebody is logged in.
    host.clock.tick(5_000);
    await until(() => pager.connected === 2);
    assertEquals(pager.opened, 3);
    // One that lasted was a good one, and one that is renewed waits for nothing.
    host.clock.tick(10_000);
    pager.ending.resolve(undefined);
    await until(() => pager.connected === 3);
    assertEquals(waits().length, 3);
  }, [new PagerError("the line is dead"), new RetryLaterError("busy", 30_000)]);
});

Deno.test("PlatformChannel ends with what no repeat mends, whichever call learns of it", async () => {
  for (const final of [new PermanentDeliveryError("no such server"), new TypeError("a setting")]) {
    await withPager(async ({ ended, channel }) => {
      await until(() => ended() !== undefined);
      assertEquals([ended(), channel.isRunning], [final, false]);
    }, [final]);
  }
  await withPager(async ({ pager, channel, ended }) => {
    await until(() => pager.connected === 1);
    pager.postFailures.push(new LoginRefusedError("revoked"));
    await assertRejects(() => send(channel, "x"), LoginRefusedError);
    await until(() => ended() instanceof LoginRefusedError);
  });
});

Deno.test("PlatformChannel goes on where a connection fails by something else, such as a full disk", async () => {
  await withPager(async ({ pager, host, ended }) => {
    await until(() => pager.connected === 1);
    pager.ending.reject(new Error("database or disk is full"));
    await until(() => /disk is full; again in/.test(host.details.at(-1)!));
    host.clock.tick(2_000);
    await until(() => pager.connected === 2);
    assertEquals(ended(), undefined);
  });
});

Deno.test("PlatformChannel tells whoever sent it which file was not read, and begins no turn with nothing", async () => {
  await withPager(async ({ pager, host }) => {
    await until(() => pager.connected === 1);
    const lane = "room";
    await pager.session.receive([{ lane, id: "1", data: "with a file" }], { read: "7" });
    await until(() => pager.posts.length === 1);
    const note = "The file big.iso was not read: it has 9 MB, and at most 8 MB are read.";
    assertEquals(pager.posts[0], { text: note, kind: "own", files: 0, buttons: 0 });
    assertEquals(host.published[0]?.content, `with a file\n\n[file]\n(${note})`);
    assertEquals(pager.session.cursor("read"), "7");
    await pager.session.receive([{ lane, id: "2", data: "a file alone" }]);
    await until(() => pager.posts.length === 2);
    assertEquals([pager.posts[1]!.text, host.offered.length], [note, 1]);
  });
});

Deno.test("PlatformChannel types before it is waited for a read receipt, and not for what begins no turn", async () => {
  await withPager(async ({ pager, host }) => {
    await until(() => pager.connected === 1);
    const again = (id: string) => ({ lane: "room", id, data: "hello" });
    await pager.session.receive([again("1"), again("2")]);
    await until(() => pager.handedOn.length === 2);
    assertEquals(pager.handedOn, [["hello", 1], ["hello", 1]]);
    assertEquals(host.offered.length, 2);
  });
});

Deno.test("PlatformChannel says of a file that has more bytes than it was said to have that it is too large", async () => {
  await withPager(async ({ pager }) => {
    await until(() => pager.connected === 1);
    await pager.session.receive([{ lane: "room", id: "1", data: "a file that is honest" }]);
    await until(() => pager.posts.length === 1);
    assertMatch(pager.posts[0]!.text, /it has 9 MB, and at most 8 MB are read/);
  });
});

Deno.test("PlatformChannel says how a goal stands as a word of its own, which is no answer", async () => {
  await withPager(async ({ pager, channel }) => {
    await until(() => pager.connected === 1);
    await send(channel, "Half of it is done", { event: { type: "goal_status" } });
    assertEquals(pager.posts.map(({ kind }) => kind), ["own"]);
  });
});

Deno.test("PlatformChannel posts without its files what is refused with them, and says so", async () => {
  await withPager(async ({ pager, channel, host }) => {
    await until(() => pager.connected === 1);
    const [ok, large] = ["ok.txt", "large.txt"].map((name) => `${host.stateDir}/${name}`);
    await Deno.writeTextFile(ok!, "x");
    await Deno.writeTextFile(large!, "x".repeat(11));
    pager.postFailures.push(undefined, new PermanentDeliveryError("it is no picture"));
    await send(channel, "look", { media: [ok, large, `${host.stateDir}/gone.txt`] });
    assertEquals(pager.posts.map(({ text, files }) => [text, files]), [
      [
        "look\n\nThe file `large.txt` could not be attached: 1 MB > 1 MB.\n\n" +
        "The file `gone.txt` could not be attached: it is empty or gone.",
        0,
      ],
      ["The file `ok.txt` could not be attached: it is no picture.", 0],
    ]);
  });
});

Deno.test("PlatformChannel takes one click of a person, keeps it, and takes the buttons away", async () => {
  await withPager(async ({ pager, channel, host }) => {
    await until(() => pager.connected === 1);
    const digest = "0123456789abcdef".repeat(4);
    const expiresAt = host.clock.now() + 60_000;
    await send(channel, "May I?", { event: { type: "approval", id: "ap", digest, expiresAt } });
    assertEquals(pager.posts[0]!.buttons, 2);
    const click = (senderId: string, clickId: string): Promise<ClickOutcome> =>
      pager.session.click({
        ...{ approvalId: "ap", digest, isApproved: true, senderId, clickId, chatId: "elsewhere" },
        isOn: (ref) => ref === 0,
      });
    host.failNext(new Error("the service is away"));
    assertEquals([await click("ann", "1"), await click("ann", "2")], ["taken", "answered"]);
    await until(() => host.lines.some(({ level }) => level === "warning"));
    host.clock.tick(1_000);
    await until(() => host.published.length === 1);
    const { content, chatId, senderId } = host.published[0]!;
    assertEquals([content, chatId, senderId], ["/approve ap 01234567", "room", "ann"]);
    await send(channel, "", { event: { type: "approval_resolved", id: "ap", outcome: "denied" } });
    assertEquals(pager.posts.map(({ text, buttons }) => [text, buttons]), [
      ["May I?\n\nDenied.", 0],
    ]);
    assertEquals(await click("bob", "3"), "answered");
  });
});

Deno.test("PlatformChannel says in a question without buttons how it came out", async () => {
  await withPager(async ({ pager, channel, host }) => {
    await until(() => pager.connected === 1);
    pager.hasButtons = false;
    const digest = "0123456789abcdef".repeat(4);
    const expiresAt = host.clock.now() + 60_000;
    await send(channel, "May I?", { event: { type: "approval", id: "ap", digest, expiresAt } });
    await send(channel, "Bob allowed it.", {
      event: { type: "approval_resolved", id: "ap", outcome: "approved" },
    });
    assertEquals(pager.posts.map(({ text, buttons }) => [text, buttons]), [
      ["May I?\n\nBob allowed it.", 0],
    ]);
  });
});

Deno.test("PlatformChannel takes a reaction to an approval for an answer, and says once to whoever is late", async () => {
  await withPager(async ({ pager, channel, host }) => {
    await until(() => pager.connected === 1);
    const digest = "0123456789abcdef".repeat(4);
    const expiresAt = host.clock.now() + 60_000;
    const ask = (id: string, more = {}) =>
      send(channel, `May I ${id}?`, {
        event: { type: "approval", id, digest, expiresAt, ...more },
      });
    await ask("one");
    await ask("two", { denyOnly: true });
    const react = (message: number, emoji: string, senderId = "ann") =>
      pager.session.react({
        ...{ isOn: (ref) => ref === message, emoji, senderId },
        id: crypto.randomUUID(),
      });
    await react(0, "❤️");
    await react(7, "👍");
    // It can only be denied.
    await react(1, "👍");
    await react(0, "👍🏽");
    await react(1, "❌");
    await until(() => host.published.length === 2);
    assertEquals(
      host.published.map(({ content, senderId, chatId }) => [content, senderId, chatId]),
      [
        ["/approve one 01234567", "ann", "room"],
        ["/deny two", "ann", "room"],
      ],
    );
    await react(0, "👎");
    assertEquals(pager.posts.slice(2).map(({ text, kind }) => [text, kind]), [
      ["This was answered already.", "own"],
    ]);
  });
});
