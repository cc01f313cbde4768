import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { channelWorld, testSpec } from "./testing/channel_world.ts";
import { rounds } from "../../../tests/support/rounds.ts";

Deno.test("configure() builds and starts what is enabled, each by itself", async () => {
  const world = channelWorld();
  world.onBuild = ({ runtimeName }) => {
    if (runtimeName === "b") throw new Error("b has no key");
  };
  world.manager.configure([
    testSpec("a"),
    testSpec("b"),
    testSpec("c", { enabled: false }),
    testSpec("d", { problem: "d needs a host" }),
    testSpec("e.work"),
  ]);
  await world.settle();
  assertEquals(world.states(), ["a running", "b failed", "c off", "d failed", "e.work running"]);
  const status = world.manager.status();
  assertEquals(status.map(({ problem }) => problem), [
    undefined,
    "b has no key",
    undefined,
    "d needs a host",
    undefined,
  ]);
  assertEquals(status[4], {
    runtimeName: "e.work",
    channel: "e",
    instanceId: "work",
    displayName: "E.WORK",
    state: "running",
    since: world.clock.now(),
    restarts: 0,
    deliveries: { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 },
  });
  // Never built: it is known to be of no use.
  assert(!world.events.includes("build d1"));
  // The same again changes nothing.
  const events = [...world.events];
  world.manager.configure([testSpec("a"), testSpec("e.work")]);
  await world.settle();
  assertEquals(world.events, events);
  await world.manager.stop(1_000);
  assertEquals([world.running("a"), world.running("e.work")], [undefined, undefined]);
  assertEquals(world.clock.timers(), 0);
});

Deno.test("verify() asks the channel that runs, and nobody where none does", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a"), testSpec("b", { enabled: false })]);
  await world.settle();
  assertEquals((await world.manager.verify("a", "show"))?.deviceId, "a");
  assertEquals([world.manager.verify("b", "show"), world.manager.verify("c", "show")], [
    ...[undefined, undefined],
  ]);
  await world.manager.stop(1_000);
});

Deno.test("a channel is delivered over as soon as it says that it runs, and not before", async () => {
  const world = channelWorld();
  world.runsAtOnce = false;
  world.manager.configure([testSpec("a")]);
  await world.settle();
  assertEquals(world.states(), ["a starting"]);
  const channel = world.built[0]!;
  channel.run();
  channel.say("connected as @bot");
  assertEquals(world.states(), ["a running"]);
  assertEquals(world.manager.status()[0]!.detail, "connected as @bot");
  channel.run(false);
  assertEquals(world.states(), ["a starting"]);
  channel.run();
  assertEquals(world.events, ["build a1", "start a1", "attach a1", "wake a"]);
  world.manager.configure([testSpec("a", { enabled: false })]);
  await world.settle();
  assertEquals(world.events.slice(4), ["detach a1", "stop a1"]);
  assertEquals(world.states(), ["a off"]);
  assertEquals(world.manager.status()[0]!.detail, undefined);
  await world.manager.stop(0);
});

Deno.test("a channel that ends, fails or is lost starts again after 1, 2, 4 … 60 s, and other channels go on", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a"), testSpec("b")]);
  await world.settle();
  const ends = [
    () => world.running("a")!.end(),
    () => world.running("a")!.end("the platform said no"),
    () => world.running("a")!.lose("it ran out of memory"),
  ];
  const problems = [
    "It ended by itself",
    "the platform said no",
    // Whichever is told first.
    /ran out of memory/,
  ];
  for (const [at, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
    ends[at % 3]!();
    await world.settle();
    assertEquals(world.states(), ["a waiting", "b running"]);
    assertMatch(world.manager.status()[0]!.problem!, new RegExp(problems[at % 3]!));
    await world.tick(seconds * 1_000 - 1);
    assertEquals(world.states(), ["a waiting", "b running"]);
    await world.tick(1);
    assertEquals(world.states(), ["a running", "b running"]);
    assertEquals(world.manager.status()[0]!.restarts, at + 1);
    assertEquals(world.manager.status()[0]!.problem, undefined);
  }
  await world.tick(5 * 60_000);
  world.running("a")!.end();
  await world.settle();
  await world.tick(1_000);
  assertEquals(world.states(), ["a running", "b running"]);
  assertEquals(world.events.filter((event) => event.endsWith("b1")), [
    "build b1",
    "start b1",
    "attach b1",
  ]);
  await world.manager.stop(1_000);
});

for (const byCall of [false, true]) {
  Deno.test(`a channel that is not let in ${byCall ? "any more" : "at the start"} is one state for 24 h, until its settings change or it is switched off and on`, async () => {
    const world = channelWorld();
    const on = testSpec("a");
    world.manager.configure([on, testSpec("b")]);
    await world.settle();
    world.running("a")!.refuse("the token was revoked.", byCall);
    await world.settle();
    const problem = () => world.manager.status()[0]!.problem;
    assertEquals(world.states(), ["a failed", "b running"]);
    assertEquals(
      problem(),
      "Its platform does not let it in: the token was revoked. Nothing is tried again until its " +
        "settings change, or it is switched off and on",
    );
    for (let hour = 0; hour < 24; hour++) {
      await world.tick(3_600_000);
      // What is configured meanwhile is the same, or another flag.
      world.manager.configure([{ ...on, sendMaxRetries: hour + 1 }, testSpec("b")]);
      await world.settle();
    }
    assertEquals(world.states(), ["a failed", "b running"]);
    assertEquals(world.manager.status()[0]!.restarts, 0);
    const built = () => world.events.filter((event) => event.startsWith("build a")).length;
    assertEquals([built(), world.warnings.length], [1, 1]);
    // Also when the two come at once.
    world.manager.configure([{ ...on, enabled: false }, testSpec("b")]);
    world.manager.configure([on, testSpec("b")]);
    await world.settle();
    assertEquals([built(), world.states()[0], problem()], [2, "a running", undefined]);
    world.running("a")!.refuse("locked", byCall);
    await world.settle();
    assertEquals(world.states()[0], "a failed");
    world.manager.configure([testSpec("a", { fingerprint: "2" }), testSpec("b")]);
    await world.settle();
    assertEquals([built(), world.states()[0], problem()], [3, "a running", undefined]);
    await world.manager.stop(1_000);
  });
}

Deno.test("a channel that was not let in is tried again when its settings come back after others", async () => {
  const world = channelWorld();
  const on = testSpec("a");
  const others = [testSpec("a", { fingerprint: "2", problem: "token is missing" })];
  world.manager.configure([on]);
  await world.settle();
  world.running("a")!.refuse("locked");
  await world.settle();
  world.manager.configure(others);
  await world.settle();
  assertEquals(world.manager.status()[0]!.problem, "token is missing");
  world.manager.configure([on]);
  await world.settle();
  assertEquals([world.states(), world.manager.status()[0]!.problem], [["a running"], undefined]);
  // Also when the others come while it is put away.
  const stopped = Promise.withResolvers<void>();
  world.onStop = () => stopped.promise;
  world.running("a")!.refuse("locked", true);
  await world.settle();
  world.manager.configure(others);
  world.manager.configure([on]);
  stopped.resolve();
  await world.settle();
  await world.tick(1_000);
  assertEquals(world.states(), ["a running"]);
  await world.manager.stop(1_000);
});

Deno.test("a channel that is switched off and on while it is put away as not let in is tried again", async () => {
  const world = channelWorld();
  const on = testSpec("a");
  world.manager.configure([on]);
  await world.settle();
  const stopped = Promise.withResolvers<void>();
  world.onStop = () => stopped.promise;
  world.running("a")!.refuse("locked", true);
  await world.settle();
  world.manager.configure([{ ...on, enabled: false }]);
  world.manager.configure([on]);
  stopped.resolve();
  await world.settle();
  await world.tick(1_000);
  assertEquals(world.states(), ["a running"]);
  await world.manager.stop(1_000);
});

Deno.test("what cannot be built is shown as failed and tried again", async () => {
  const world = channelWorld();
  let isDown = true;
  world.onBuild = () => {
    if (isDown) throw new Error("its packages cannot be fetched");
  };
  world.manager.configure([testSpec("a")]);
  await world.settle();
  await world.tick(1_000);
  assertEquals(world.states(), ["a failed"]);
  isDown = false;
  await world.tick(1_999);
  assertEquals(world.states(), ["a failed"]);
  await world.tick(1);
  assertEquals(world.states(), ["a running"]);
  assertEquals(world.manager.status()[0]!.restarts, 0);
  await world.manager.stop(1_000);
});

Deno.test("a step that fails by a fault of ours is done again, and leaves nothing running", async () => {
  const world = channelWorld();
  let isBroken = true;
  world.onAttach = () => {
    if (isBroken) throw new Error("a fault of ours");
  };
  world.manager.configure([testSpec("a")]);
  await world.settle();
  assertEquals(world.built.map(({ state }) => state), ["over"]);
  isBroken = false;
  await world.tick(1_000);
  assertEquals(world.states(), ["a running"]);
  await world.manager.stop(1_000);
});

Deno.test("configure() builds the new one first, stops the old one, then starts the new one", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a")]);
  await world.settle();
  const made = Promise.withResolvers<void>();
  world.onBuild = () => made.promise;
  world.manager.configure([testSpec("a", { fingerprint: "2" })]);
  await world.settle();
  assertEquals(world.states(), ["a running"]);
  made.resolve();
  await world.settle();
  assertEquals(world.events.slice(3), [
    "build a2",
    "detach a1",
    "stop a1",
    "start a2",
    "attach a2",
  ]);
  assertEquals(world.manager.status()[0]!.restarts, 0);
  await world.manager.stop(1_000);
});

Deno.test("(C35) a new configuration that cannot be built leaves the old one at work, and the status says so", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a")]);
  await world.settle();
  world.onBuild = () => {
    throw new Error("imapHost is empty");
  };
  world.manager.configure([testSpec("a", { fingerprint: "2" })]);
  await world.settle();
  assertEquals(world.states(), ["a running"]);
  assertEquals(
    world.manager.status()[0]!.problem,
    "The new settings cannot be used, the ones before stay in force: imapHost is empty",
  );
  // The same where it is known before.
  world.manager.configure([testSpec("a", { fingerprint: "3", problem: "no host" })]);
  await world.settle();
  assertMatch(world.manager.status()[0]!.problem!, /stay in force: no host$/);
  assertEquals(world.running("a")!.spec.fingerprint, "1");
  // Back to what runs: nothing is wrong any more, and nothing was replaced.
  world.manager.configure([testSpec("a")]);
  await world.settle();
  assertEquals(world.manager.status()[0]!.problem, undefined);
  assertEquals(world.built.length, 1);
  // And once it can be built, it is.
  world.onBuild = () => {};
  world.manager.configure([testSpec("a", { fingerprint: "2" })]);
  await world.settle();
  assertEquals(world.running("a")!.spec.fingerprint, "2");
  await world.manager.stop(1_000);
});

Deno.test("the log says once what keeps a channel from running as it is configured", async () => {
  const world = channelWorld();
  const told = () => world.warnings.splice(0).map(({ channel, problem }) => [channel, problem]);
  const bad = testSpec("a", { problem: "no host" });
  for (const specs of [[bad], [bad], [{ ...bad, sendMaxRetries: 5 }]]) {
    world.manager.configure(specs);
    await world.settle();
  }
  assertEquals(told(), [["a", "no host"]]);
  world.manager.configure([{ ...bad, problem: "no port" }]);
  await world.settle();
  assertEquals(told(), [["a", "no port"]]);
  world.manager.configure([{ ...bad, enabled: false }]);
  await world.settle();
  assertEquals(told(), []);
  world.manager.configure([bad]);
  await world.settle();
  assertEquals(told(), [["a", "no host"]]);
  await world.manager.stop(1_000);
});

Deno.test("the old one that ends while the new one cannot be built is shown as failed", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a")]);
  await world.settle();
  world.onBuild = () => {
    throw new Error("imapHost is empty");
  };
  world.manager.configure([testSpec("a", { fingerprint: "2" })]);
  await world.settle();
  world.running("a")!.end("gone");
  await world.settle();
  await world.tick(60_000);
  assertEquals(world.states(), ["a failed"]);
  assertEquals(world.manager.status()[0]!.problem, "imapHost is empty");
  world.manager.configure([testSpec("a", { fingerprint: "3", problem: "no host" })]);
  await world.settle();
  assertEquals(world.manager.status()[0]!.problem, "no host");
  await world.manager.stop(1_000);
});

Deno.test("of changes that come quickly only the last one counts", async () => {
  const world = channelWorld();
  const made = Promise.withResolvers<void>();
  world.onBuild = () => made.promise;
  for (const fingerprint of ["1", "2", "3"]) {
    world.manager.configure([testSpec("a", { fingerprint })]);
    await world.settle();
  }
  made.resolve();
  await world.settle();
  assertEquals(world.events, [
    "build a1",
    "stop a1",
    "build a3",
    "start a3",
    "attach a3",
  ]);
  world.manager.configure([testSpec("a", { enabled: false })]);
  world.manager.configure([testSpec("a", { fingerprint: "3" })]);
  await world.settle();
  assertEquals(world.events.length, 5);
  world.manager.configure([]);
  world.manager.configure([testSpec("a", { fingerprint: "3" })]);
  await world.settle();
  assertEquals([world.events.length, world.states()], [5, ["a running"]]);
  world.manager.configure([]);
  await world.settle();
  assertEquals([world.states(), world.events.slice(5)], [[], ["detach a3", "stop a3"]]);
  world.manager.configure([testSpec("a", { fingerprint: "3" })]);
  await world.settle();
  assertEquals(world.states(), ["a running"]);
  await world.manager.stop(1_000);
});

Deno.test("(C21) a second claim on a runtime name is refused, and the first goes on", async () => {
  const world = channelWorld();
  const first = testSpec("a.b");
  const second = testSpec("a.b", { channel: "thief", instanceId: "x", fingerprint: "9" });
  world.manager.configure([first, second]);
  await world.settle();
  assertEquals(world.states(), ["a.b running", "a.b failed"]);
  assertEquals(
    world.manager.status()[1]!.problem,
    'The name "a.b" belongs to the instance "b" of the channel a already: give one of them ' +
      "another id, or switch it off",
  );
  // Who comes first in the file does not take it from who runs.
  world.manager.configure([second, first]);
  await world.settle();
  assertEquals(world.states(), ["a.b failed", "a.b running"]);
  assertEquals(world.built.length, 1);
  // One that is switched off holds nothing.
  world.manager.configure([second, { ...first, enabled: false }]);
  await world.settle();
  assertEquals(world.states(), ["a.b running", "a.b off"]);
  assertEquals(world.running("a.b")!.spec.channel, "thief");
  await world.manager.stop(1_000);
});

Deno.test("what is delivered changes without a new start", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a")]);
  await world.settle();
  world.manager.configure([testSpec("a", { sendMaxRetries: 5 })]);
  await world.settle();
  assertEquals(world.events.slice(2), ["attach a1", "detach a1", "attach a1"]);
  assertEquals(world.built.length, 1);
  await world.manager.stop(1_000);
});

Deno.test("what is being sent ends before anything else is delivered, whatever a channel says meanwhile", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a")]);
  await world.settle();
  const sent = Promise.withResolvers<void>();
  world.sending = sent.promise;
  world.manager.configure([testSpec("a", { sendMaxRetries: 5 })]);
  await world.settle();
  world.built[0]!.say("busy");
  await world.settle();
  assertEquals(world.events.slice(2), ["attach a1", "detach a1"]);
  sent.resolve();
  await world.settle();
  assertEquals(world.events.slice(4), ["attach a1"]);
  await world.manager.stop(1_000);
});

Deno.test("stop() lets what is being sent end within the grace, and no longer", async () => {
  for (const inTime of [true, false]) {
    const world = channelWorld();
    world.manager.configure([testSpec("a")]);
    await world.settle();
    const sent = Promise.withResolvers<void>();
    world.sending = sent.promise;
    const graces: number[] = [];
    world.onStop = (_, graceMs) => void graces.push(graceMs);
    const stopped = world.manager.stop(2_000);
    await world.settle();
    await world.tick(500);
    assertEquals(world.events.at(-1), "detach a1");
    assertEquals(world.states(), ["a stopping"]);
    if (inTime) sent.resolve();
    await world.tick(inTime ? 0 : 1_500);
    await stopped;
    await world.settle();
    assertEquals(world.events.at(-1), "stop a1");
    assertEquals(graces, [inTime ? 1_500 : 0]);
    sent.resolve();
    await world.settle();
    assertEquals(world.clock.timers(), 0);
  }
});

Deno.test("(C25) stop() ends a wait at once, and a build that takes long when it is done", async () => {
  const world = channelWorld();
  world.manager.configure([testSpec("a"), testSpec("b")]);
  await world.settle();
  world.running("a")!.end();
  const made = Promise.withResolvers<void>();
  world.onBuild = () => made.promise;
  world.manager.configure([testSpec("a"), testSpec("b", { fingerprint: "2" })]);
  await world.settle();
  const stopped = world.manager.stop(3_000);
  assertEquals(world.manager.stop(1), stopped);
  await world.settle();
  await world.tick(3_000);
  await stopped;
  assertEquals(world.clock.timers(), 0);
  made.resolve();
  await world.settle();
  assertEquals([world.running("a"), world.running("b")], [undefined, undefined]);
  assertEquals(world.built.map(({ state }) => state), ["over", "over", "over"]);
  world.manager.configure([testSpec("c")]);
  await world.settle();
  assertEquals(world.built.length, 3);
});

const step = fc.oneof(
  fc.record({
    kind: fc.constant("configure" as const),
    specs: fc.array(
      fc.record({
        name: fc.constantFrom("a", "a.b", "c"),
        channel: fc.constantFrom(undefined, "thief"),
        enabled: fc.boolean(),
        fingerprint: fc.constantFrom("1", "2", "3"),
        problem: fc.constantFrom(undefined, undefined, "broken"),
        sendMaxRetries: fc.constantFrom(1, 3),
      }),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    kind: fc.constantFrom("end" as const, "fail" as const, "lose" as const, "run" as const),
    name: fc.constantFrom("a", "a.b", "c"),
  }),
  fc.record({ kind: fc.constant("tick" as const), ms: fc.nat({ max: 400_000 }) }),
  fc.record({ kind: fc.constant("builds" as const), fail: fc.boolean(), slow: fc.boolean() }),
  fc.record({ kind: fc.constant("runs at once" as const), is: fc.boolean() }),
);

Deno.test("whatever happens, one of a name runs at most, and in the end all that can", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(step, fc.boolean()), { maxLength: 40 }),
      fc.boolean(),
      async (steps, stopsEarly) => {
        const world = channelWorld();
        let builds = { fail: false, slow: false };
        world.onBuild = async () => {
          const { fail, slow } = builds;
          if (slow) await new Promise<void>((go) => world.clock.after(1_500, go));
          if (fail) throw new Error("cannot be built");
        };
        let specs = [testSpec("a"), testSpec("c")];
        world.manager.configure(specs);
        // The world asserts with each call that no two run, and that none is attached twice.
        for (const [one, settles] of steps) {
          switch (one.kind) {
            case "configure":
              specs = one.specs.map(({ name, channel, ...rest }) =>
                testSpec(name, { ...rest, ...channel !== undefined && { channel } })
              );
              world.manager.configure(specs);
              break;
            case "end":
              world.running(one.name)?.end();
              break;
            case "fail":
              world.running(one.name)?.end("failed");
              break;
            case "lose":
              world.running(one.name)?.lose("crashed");
              break;
            case "run":
              world.running(one.name)?.run();
              break;
            case "tick":
              await world.tick(one.ms);
              break;
            case "builds":
              builds = one;
              break;
            case "runs at once":
              world.runsAtOnce = one.is;
          }
          if (settles) await world.settle();
        }
        if (!stopsEarly) {
          builds = { fail: false, slow: false };
          world.runsAtOnce = true;
          for (let round = 0; round < 4; round++) {
            await world.tick(70_000);
            for (const channel of world.built) {
              if (channel.state === "started") channel.run();
            }
          }
          const status = world.manager.status();
          for (const name of new Set(specs.map(({ runtimeName }) => runtimeName))) {
            const claims = specs.filter((spec) => spec.runtimeName === name && spec.enabled);
            const usable = claims.some(({ problem }) => problem === undefined);
            const running = world.running(name);
            const shown = status.filter((each) => each.runtimeName === name);
            if (claims.length === 1 && usable) {
              assertEquals(running?.spec.fingerprint, claims[0]!.fingerprint);
            }
            if (claims.length === 0) assertEquals(running, undefined);
            assertEquals(
              shown.filter(({ state }) => state === "running").length,
              running === undefined ? 0 : 1,
            );
          }
          const names = new Set(specs.map(({ runtimeName }) => runtimeName));
          for (const { runtimeName, state } of world.built) {
            if (state === "started") assert(names.has(runtimeName));
          }
        }
        const stopped = world.manager.stop(2_000);
        await world.tick(2_000);
        await stopped;
        await world.tick(2_000);
        assertEquals(world.clock.timers(), 0);
        assertEquals(world.built.filter(({ state }) => state !== "over"), []);
      },
    ),
    { numRuns: rounds(300) },
  );
});
