import { assert, assertEquals } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import type { IntakeEntry } from "../../../lib/channel/platform/intake.ts";
import { callError } from "../../../lib/channel/platform/mod.ts";
import { MATTERMOST_FAULTS } from "../api/mattermost_faults.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { type FakePost, FakeStore } from "../testing/fake_store.ts";
import { type HeardPost, heardPost } from "./heard_post.ts";
import { PostFeed } from "./post_feed.ts";

/** A feed that is not connected to anything but a store. */
class World {
  readonly store = new FakeStore();
  readonly room = this.store.channel("room", "P");
  readonly clock = fakeClock();
  readonly added: IntakeEntry<HeardPost>[] = [];
  readonly cursors: Record<string, string> = {};
  /** What each write has set. */
  readonly stored: Record<string, string>[] = [];
  readonly warnings: string[] = [];
  lists = 0;
  onList: () => void = () => {};
  /** What the next calls of the intake, or of the server, fail with. */
  readonly failures: Error[] = [];
  held: Promise<void> | undefined;
  /** Channels that cannot be read, and what is given for others instead of a page. */
  readonly refused = new Set<string>();
  readonly broken = new Map<string, unknown>();
  readonly feed: PostFeed;
  readonly #client: MattermostClient;

  constructor() {
    this.#client = {
      getAllTeamsChannels: () => {
        this.lists += 1;
        this.onList();
        const failure = this.failures.shift();
        if (failure !== undefined) return Promise.reject(failure);
        return Promise.resolve([...this.store.channels.values()]);
      },
      getPosts: (id: string, page: number, size: number) => {
        if (this.refused.has(id)) {
          return Promise.reject(callError(MATTERMOST_FAULTS, { status: 403 }));
        }
        if (this.broken.has(id)) return Promise.resolve(this.broken.get(id));
        const posts = this.store.page(id, page, size);
        return Promise.resolve({
          order: posts.map((post) => post.id),
          posts: Object.fromEntries(posts.map((post) => [post.id, post])),
        });
      },
    } as unknown as MattermostClient;
    this.feed = this.openFeed();
  }

  /** One more, as after a start. */
  openFeed(): PostFeed {
    const me = { id: this.store.bot.id, username: "helper" };
    return new PostFeed({
      client: this.#client,
      myId: this.store.bot.id,
      intake: {
        cursor: (name) => this.cursors[name],
        add: async (entries, cursors) => {
          await this.held;
          const failure = entries.length > 0 ? this.failures.shift() : undefined;
          if (failure !== undefined) throw failure;
          this.added.push(...entries);
          Object.assign(this.cursors, cursors);
          this.stored.push({ ...cursors });
        },
      },
      hear: (post, about) =>
        heardPost(post, about, {
          me,
          respond: "all",
          replyInThread: false,
          isInThread: () => false,
        }),
      isOfTeam: () => true,
      clock: this.clock,
      log: { info: () => {}, warning: (message) => void this.warnings.push(message) },
    });
  }

  say(text: string): FakePost {
    const post = this.store.post(this.store.alice.id, this.room.id, text);
    this.take(post);
    return post;
  }

  take(post: FakePost): void {
    this.feed.take("posted", { channel_type: "P", team_id: "", post: JSON.stringify(post) });
  }

  get texts(): string[] {
    return this.added.map(({ data }) => data.text);
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((again) => setTimeout(again, 1));
  }
}

Deno.test("PostFeed keeps a bounded number of events, and fetches the others", async () => {
  const world = new World();
  await world.feed.begin();
  const gate = Promise.withResolvers<void>();
  world.held = gate.promise;
  const texts = Array.from({ length: 1_500 }, (_, at) => `text ${at}`);
  for (const text of texts) world.say(text);
  assertEquals(world.lists, 1);
  gate.resolve();
  await world.until(() => world.added.length === 1_500);
  assertEquals(world.texts, texts);
  assertEquals(world.lists, 2);
  await world.feed.close();
});

Deno.test("PostFeed tries again what could not be written, and moves no cursor past it", async () => {
  const world = new World();
  await world.feed.begin();
  world.failures.push(new Error("the disk is full"));
  const post = world.say("kept");
  await world.until(() => world.warnings.length === 1);
  assertEquals(world.cursors[world.room.id], undefined);
  world.clock.tick(1_250);
  await world.until(() => world.added.length === 1);
  assertEquals(world.cursors[world.room.id], `${post.create_at} ${post.id}`);
  // Ended while it waits: it is not taken for one that was looked at.
  world.failures.push(new Error("the disk is full"));
  world.say("for the next process");
  await world.until(() => world.warnings.length === 2);
  await world.feed.close();
  assertEquals(world.cursors[world.room.id], `${post.create_at} ${post.id}`);
});

Deno.test("PostFeed waits as long as the server asks for, and holds what comes meanwhile", async () => {
  const world = new World();
  world.store.post(world.store.alice.id, world.room.id, "before the first start");
  await world.feed.begin();
  world.failures.push(callError(MATTERMOST_FAULTS, { status: 429, retryAfterMs: 90_000 }));
  world.feed.catchUp();
  world.say("live");
  await world.until(() => world.warnings.length === 1);
  world.clock.tick(89_000);
  assertEquals(world.lists, 2);
  world.clock.tick(1_000);
  await world.until(() => world.added.length === 1);
  assertEquals(world.texts, ["live"]);
  await world.feed.close();
});

Deno.test("PostFeed leaves the oldest alone where more was written than is fetched, and says so", async () => {
  const world = new World();
  await world.feed.begin();
  for (let at = 0; at < 1_100; at++) {
    world.store.post(world.store.alice.id, world.room.id, `text ${at}`);
  }
  world.feed.catchUp();
  await world.until(() => world.added.length > 0);
  assertEquals(world.texts, Array.from({ length: 1_000 }, (_, at) => `text ${at + 100}`));
  assert(world.warnings[0]!.startsWith("More was written than is fetched"));
  await world.feed.close();
});

Deno.test("PostFeed takes an event that comes twice once", async () => {
  const world = new World();
  await world.feed.begin();
  const post = world.say("once");
  world.take(post);
  await world.until(() => world.added.length > 0);
  world.take(post);
  world.say("behind");
  await world.until(() => world.texts.includes("behind"));
  assertEquals(world.texts, ["once", "behind"]);
  await world.feed.close();
});

Deno.test("PostFeed leaves a channel alone that cannot be read, and fetches the others", async () => {
  const pages = [null, 7, {}, { order: "x", posts: {} }, { order: ["x"] }];
  for (const page of pages) {
    const world = new World();
    await world.feed.begin();
    const { store } = world;
    const [secret, odd, open] = ["secret", "odd", "open"].map((name) => store.channel(name, "P"));
    for (const { id, name } of [secret!, odd!, open!]) store.post(store.alice.id, id, name);
    world.refused.add(secret!.id);
    world.broken.set(odd!.id, page);
    world.feed.catchUp();
    await world.until(() => {
      world.clock.tick(75_000);
      return world.added.length === 1;
    });
    assertEquals(world.texts, ["open"]);
    assert(world.warnings.some((warning) => warning.startsWith("A channel cannot be read")));
    // What was no page did not say that nothing was missed.
    world.broken.clear();
    world.feed.catchUp();
    await world.until(() => world.added.length === 2);
    assertEquals(world.texts, ["open", "odd"]);
    await world.feed.close();
  }
});

Deno.test("PostFeed leaves out what is no post in a page that is one", async () => {
  const world = new World();
  await world.feed.begin();
  const { store } = world;
  const [odd, open] = ["odd", "open"].map((name) => store.channel(name, "P"));
  for (const { id, name } of [odd!, open!]) store.post(store.alice.id, id, name);
  world.broken.set(odd!.id, { order: ["x", 5], posts: { x: 7 } });
  world.feed.catchUp();
  await world.until(() => world.added.length === 1);
  assertEquals([world.texts, world.warnings], [["open"], []]);
  await world.feed.close();
});

Deno.test("PostFeed fetches again for a gap that comes while it fetches", async () => {
  const world = new World();
  await world.feed.begin();
  world.onList = () => {
    if (world.lists > 2) return;
    // The list is made, and then something is missed once more.
    queueMicrotask(() => {
      world.store.post(world.store.alice.id, world.room.id, "missed while it fetched");
      world.feed.catchUp();
    });
  };
  world.store.post(world.store.alice.id, world.room.id, "missed");
  world.feed.catchUp();
  await world.until(() => world.lists === 3);
  await world.until(() => world.added.length === 2);
  assertEquals(world.texts, ["missed", "missed while it fetched"]);
  await world.feed.close();
});

Deno.test("PostFeed looks after a later start at all that was written since it began, even if it was stopped before its first look", async () => {
  const world = new World();
  const { store, room } = world;
  const before = store.post(store.alice.id, room.id, "before");
  await world.feed.begin();
  assertEquals(world.stored, [{ [`* ${store.bot.id}`]: String(before.create_at + 0.5) }]);
  store.post(store.alice.id, room.id, "unheard", { create_at: before.create_at + 1 });
  await world.feed.close();
  const next = world.openFeed();
  await next.begin();
  next.catchUp();
  await world.until(() => world.added.length > 0);
  assertEquals(world.texts, ["unheard"]);
  await next.close();
});

Deno.test("PostFeed begins now in no channel, and hears nothing older when it comes into one", async () => {
  const world = new World();
  const { store, room } = world;
  store.channels.clear();
  await world.feed.begin();
  store.channels.set(room.id, room);
  const createAt = world.clock.now();
  store.post(store.alice.id, room.id, "older", { create_at: createAt - 1 });
  store.post(store.alice.id, room.id, "newer", { create_at: createAt + 1 });
  world.feed.catchUp();
  await world.until(() => world.texts.includes("newer"));
  assertEquals(world.texts, ["newer"]);
});

Deno.test("PostFeed hears a channel whose list fails, and reads what was missed there after the next start", async () => {
  const world = new World();
  await world.feed.begin();
  const { store, room } = world;
  store.post(store.alice.id, room.id, "missed");
  world.broken.set(room.id, null);
  world.feed.catchUp();
  world.say("live");
  await world.until(() => {
    world.clock.tick(1_000);
    return world.added.length === 1;
  });
  assertEquals(world.texts, ["live"]);
  assertEquals(world.cursors[room.id], undefined);
  await world.feed.close();
  world.broken.clear();
  const next = world.openFeed();
  await next.begin();
  next.catchUp();
  await world.until(() => world.texts.includes("missed"));
  await next.close();
});
