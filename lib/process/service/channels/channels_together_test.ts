import { assert, assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../../base/clock.ts";
import { answering, says } from "../../../agent/testing/scripted_model.ts";
import { testAgent } from "../../../agent/testing/test_agent.ts";
import { WorkerFixture } from "../../../operations/channels/testing/worker_fixture.ts";
import { createDeliveries } from "../../../delivery/create_deliveries.ts";
import { createChannelManager } from "../../../delivery/manager/create_channel_manager.ts";
import { testSpec } from "../../../delivery/manager/testing/channel_world.ts";
import { LinePlatform } from "../../../delivery/manager/testing/line_platform.ts";
import type { ModelRequest } from "../../../model/port.ts";
import type { Scrubber } from "../../../secrets/scrubber.ts";
import { fakeDocuments } from "../../../http/testing/fake_documents.ts";
import { createInbound } from "./create_inbound.ts";
import { rounds } from "../../../../tests/support/rounds.ts";

/** Waits of seconds take milliseconds, those that are no waits stay. */
const hurried: Clock = {
  ...systemClock,
  after: (ms, run) => systemClock.after(ms <= 60_000 ? ms / 50 : ms, run),
};

const scrubber = {
  text: (text: string) => text,
  value: (value: unknown) => value,
} as unknown as Scrubber;

/** Says what it was told last. */
const echo = answering((request) => says(`re ${lastText(request)}`)(request));

function lastText({ messages }: ModelRequest): string {
  const last = messages.at(-1)!;
  const part = last.role === "user" ? last.parts.at(-1) : undefined;
  return part?.type === "text" ? part.text : "?";
}

Deno.test("three channels in workers that die at any moment: each message has one turn, each answer arrives once or is known to be unsure (W1)", async () => {
  const COUNT = rounds(60, 20);
  const fixture = await WorkerFixture.open();
  const agent = testAgent({ model: echo, scrubber });
  const { journal } = agent;
  const deliveries = createDeliveries({ journal, log: fixture.log, clock: hurried });
  const inbound = createInbound({
    late: { isLate: () => false, take: () => Promise.resolve() },
    turns: agent.turns,
    journal,
    deliveries,
    documents: fakeDocuments,
    dataDir: fixture.dataDir,
    scrub: (text) => text,
    randomId: () => crypto.randomUUID(),
    log: fixture.log,
  });
  const names = ["one", "two", "two.b"];
  const platforms = new Map(names.map((name) => [name, new LinePlatform()]));
  const manager = createChannelManager({
    build(spec) {
      const { runtimeName } = spec;
      const { port } = platforms.get(runtimeName)!;
      return fixture.build({
        runtimeName,
        file: "../../delivery/manager/testing/line_runtime.ts",
        exportName: "LineRuntime",
        config: { allowFrom: ["ann"], port },
        permissions: { hosts: [`127.0.0.1:${port}`] },
      }, { spec, inbound });
    },
    deliveries,
    clock: hurried,
    random: Math.random,
    log: fixture.log,
  });
  const specs = (fingerprint: string) => names.map((name) => testSpec(name, { fingerprint }));
  manager.configure(specs("1"));

  const all = [...platforms.values()];
  const over = Promise.withResolvers<void>();
  const settled = (name: string, { given, acked, connections }: LinePlatform) => {
    // A worker that was replaced or died comes back.
    if (acked < COUNT || connections < 2) return false;
    const unsure = journal.outbox(0, 10_000).filter(({ channel, state }) =>
      channel === name && (state === "unknown" || state === "dead")
    );
    return given.length + unsure.length >= COUNT;
  };
  let lines = 0;
  let said = 0;
  let deaths = 0;
  const every = rounds(37, 12);
  const enough = rounds(6, 4);
  const next = () => {
    lines += 1;
    // Something happens to each of them in turn, every now and then.
    const victim = all[deaths % all.length]!;
    if (lines % every === 0 && deaths < 12 && victim.open > 0) {
      deaths += 1;
      if (deaths % 4 === 0) victim.hangUp();
      else if (deaths % 5 === 0) manager.configure(specs(`${deaths}`));
      else victim.kill();
    }
    while (said < COUNT && said * 3 < lines + 9) {
      said += 1;
      for (const platform of all) {
        platform.say({ id: `m${said}`, chat: `c${said % 4}`, text: `t${said}` });
      }
    }
    if (deaths >= enough && names.every((name) => settled(name, platforms.get(name)!))) {
      over.resolve();
    }
  };
  for (const platform of all) platform.onLine = next;
  const look = setInterval(next, 50);
  const late = setTimeout(
    () => over.reject(new Error(`Not over after two minutes, ${deaths} deaths`)),
    120_000,
  );
  await over.promise;
  clearTimeout(late);
  clearInterval(look);
  for (const platform of all) platform.onLine = () => {};

  for (const [name, { given }] of platforms) {
    // Each was answered by one turn, though the platform sent it three times and more.
    const turns = ["c0", "c1", "c2", "c3"].flatMap((chat) =>
      journal.turns(journal.session(`${name}:${chat}`)!.id, 0, 1_000)
    );
    assertEquals(turns.length, COUNT);
    const unsure = new Set(
      journal.outbox(0, 10_000)
        .filter(({ channel, state }) => channel === name && state === "unknown")
        .map(({ id }) => id),
    );
    const times = new Map<string, number>();
    for (const { id, content } of given) {
      times.set(content, (times.get(content) ?? 0) + 1);
      if (times.get(content)! > 1) assert(unsure.has(id), `${content} came twice to ${name}`);
    }
    const missing = COUNT - times.size;
    assert(missing <= unsure.size, `${missing} are missing of ${name}, ${unsure.size} are unsure`);
    assert(manager.status().find(({ runtimeName }) => runtimeName === name)!.state !== "failed");
    // Answers of a chat keep their order.
    for (const chat of ["c0", "c1", "c2", "c3"]) {
      const order = given.filter((each) => each.chat === chat)
        .map(({ content }) => Number(/\d+$/.exec(content)![0]));
      assertEquals(order, [...order].sort((a, b) => a - b));
    }
  }
  await manager.stop(2_000);
  await deliveries.stop(0);
  for (const platform of all) await platform[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
  await fixture.close();
});
