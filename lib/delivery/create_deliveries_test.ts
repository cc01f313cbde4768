import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../channel/delivery_error.ts";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { openJournal } from "../journal/open.ts";
import { withFolder } from "../journal/testing/steps.ts";
import { retryWaitMs } from "./attempt.ts";
import { DeliveryWorld, segment, settled } from "./testing/delivery_world.ts";

Deno.test("attach() delivers what waits for the runtime, each chat in its order, and what comes", async () => {
  await using world = new DeliveryWorld();
  await world.enqueue(["1", "2"]);
  await world.enqueue(["x"], {
    chatId: "#b",
    metadata: { message_id: "5" },
    media: [{ name: "a.png", path: "/a.png" }],
  });
  await world.enqueue(["not mine"], { channel: "email", chatId: "a@b" });
  const { link } = world.attach("irc", { spec: { capabilities: ["media"] } });
  await settled();
  await world.enqueue(["3"]);
  await settled();
  assertEquals(link.texts("#a"), ["1", "2", "3"]);
  assertEquals(link.arrived.filter(({ chatId }) => chatId === "#b"), [{
    member: "send",
    chatId: "#b",
    message: {
      id: "m3",
      channel: "irc",
      chatId: "#b",
      content: "x",
      media: ["/a.png"],
      metadata: { message_id: "5" },
    },
  }]);
  assertEquals(world.rows, ["sent 1", "sent 2", "sent x", "pending not mine", "sent 3"]);
  assertEquals(world.deliveries.counts("irc"), {
    waiting: 0,
    retrying: 0,
    sent: 4,
    unknown: 0,
    dead: 0,
  });
  assertEquals(world.deliveries.counts("email").waiting, 1);
});

Deno.test("a send that fails twice and then succeeds delivers once (C22)", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  let failures = 2;
  link.answer = () => {
    if (failures-- > 0) throw new Error("no connection");
  };
  await world.enqueue(["hi"]);
  await settled();
  assertEquals([link.calls.length, world.deliveries.counts("irc").retrying], [1, 1]);
  world.clock.tick(1_000);
  await settled();
  world.clock.tick(2_000);
  await settled();
  assertEquals([link.calls.length, link.texts(), world.rows], [3, ["hi"], ["sent hi"]]);
  // The same id each time, so that a channel can tell.
  assertEquals(
    new Set(link.calls.map((call) => call.member === "send" && call.message.id)).size,
    1,
  );
  assertEquals(world.deliveries.counts("irc").retrying, 0);
});

for (
  const { retries, waits } of [
    { retries: 0, waits: [] },
    { retries: 1, waits: [] },
    { retries: 5, waits: [1, 2, 4, 4] },
  ]
) {
  Deno.test(`sendMaxRetries ${retries} waits ${waits.join(", ") || "never"} (C23)`, async () => {
    await using world = new DeliveryWorld();
    const { link } = world.attach("irc", { spec: { sendMaxRetries: retries } });
    const times: number[] = [];
    link.answer = () => {
      times.push(world.clock.now());
      throw new Error("no connection");
    };
    await world.enqueue(["hi"]);
    for (let s = 0; s < 40; s++) {
      await settled(10);
      world.clock.tick(500);
    }
    const between = times.slice(1).map((time, at) => (time - times[at]!) / 1_000);
    assertEquals(between, waits);
    assertEquals(world.rows, ["dead hi"]);
    const [row] = world.journal.outbox(0, 1);
    assertEquals([row!.attempts, row!.error], [waits.length + 1, "no connection"]);
    assertEquals(world.deliveries.counts("irc"), {
      waiting: 0,
      retrying: 0,
      sent: 0,
      unknown: 0,
      dead: 1,
    });
  });
}

Deno.test("retryWaitMs() is 1, 2, 4, 4 … s (C23)", () => {
  assertEquals([1, 2, 3, 4, 100].map(retryWaitMs), [1_000, 2_000, 4_000, 4_000, 4_000]);
});

Deno.test("a clock that is set back holds up no message that waits for its next try", async () => {
  const steady = fakeClock();
  let aheadMs = 0;
  const clock = { ...steady, now: () => steady.now() + aheadMs };
  await using world = new DeliveryWorld({ clock });
  const { link, detach } = world.attach();
  let failures = 2;
  link.answer = () => {
    if (failures-- > 0) throw new Error("no connection");
  };
  await world.enqueue(["hi"]);
  await settled();
  aheadMs = -3 * 3_600_000;
  clock.tick(1_000);
  await settled();
  assertEquals([link.calls.length, world.deliveries.counts("irc").retrying], [2, 1]);
  // And where nobody has waited: no wait is for years.
  aheadMs = -3 * 365 * 24 * 3_600_000;
  await detach();
  const next = world.attach();
  await settled();
  assertEquals([next.link.texts(), world.rows], [["hi"], ["sent hi"]]);
});

Deno.test("a permanent error is not retried, and the next message goes out (W10)", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  link.answer = (call) => {
    if (call.member === "send" && call.message.content === "bad") {
      throw new PermanentDeliveryError("the chat is gone");
    }
  };
  await world.enqueue(["bad", "good"]);
  await settled();
  assertEquals([link.calls.length, world.rows], [2, ["dead bad", "sent good"]]);
});

Deno.test("an error of a package's own copy is told by its name", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  link.answer = () => {
    throw Object.assign(new Error("gone"), { name: "PermanentDeliveryError" });
  };
  await world.enqueue(["hi"]);
  await settled();
  assertEquals(world.rows, ["dead hi"]);
});

Deno.test("a message that finds the login refused waits for its channel, and uses up no attempt", async () => {
  await using world = new DeliveryWorld();
  const { link, detach } = world.attach("irc", { spec: { sendMaxRetries: 1 } });
  link.answer = () => {
    throw new LoginRefusedError("the token was revoked");
  };
  await world.enqueue(["hi", "there"]);
  await settled();
  assertEquals([link.calls.length, world.rows], [1, ["pending hi", "pending there"]]);
  assertEquals(world.journal.outbox(0, 1)[0]!.error, "the token was revoked");
  // The manager ends such a channel; an hour later it has another token.
  await detach();
  world.clock.tick(3_600_000);
  const next = world.attach("irc", { spec: { sendMaxRetries: 1 } });
  await settled();
  assertEquals([next.link.texts(), world.rows], [["hi", "there"], ["sent hi", "sent there"]]);
});

Deno.test("RetryLaterError is obeyed, uses up no attempt, and ends with the message's time", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", { spec: { sendMaxRetries: 1 } });
  let waits = [90_000, 60_000, 40 * 3_600_000];
  link.answer = () => {
    const ms = waits.shift();
    if (ms !== undefined) throw new RetryLaterError("slow down", ms);
  };
  await world.enqueue(["hi"]);
  await settled();
  world.clock.tick(89_000);
  await settled();
  assertEquals(link.calls.length, 1);
  world.clock.tick(1_000);
  await settled();
  world.clock.tick(60_000);
  await settled();
  assertEquals([link.calls.length, world.journal.outbox(0, 1)[0]!.attempts], [3, 0]);
  world.clock.tick(24 * 3_600_000);
  await settled();
  assertEquals([link.calls.length, world.rows], [3, ["expired hi"]]);
  waits = [];
  await world.enqueue(["later"]);
  await settled();
  assertEquals(link.texts(), ["later"]);
});

Deno.test("a platform that is away is asked a few times a second, however many chats wait for it", async () => {
  await using world = new DeliveryWorld();
  for (let n = 0; n < 500; n++) await world.enqueue(["hi"], { chatId: `#${n}` });
  const { link } = world.attach();
  link.answer = () => {
    throw new NotConnectedError("the network is down");
  };
  await settled();
  const before = link.calls.length;
  for (let second = 0; second < 60; second++) {
    world.clock.tick(1_000);
    await settled();
  }
  const { length } = link.calls;
  assert(length - before > 300 && length - before < 60 * 33, String(length - before));
  // Every chat has its turn.
  assertEquals(new Set(link.calls.map(({ chatId }) => chatId)).size, 500);
  link.answer = () => {};
  world.clock.tick(2_000);
  await settled();
  world.clock.tick(2_000);
  await settled();
  assertEquals(link.arrived.length, 500);
  assertEquals(world.journal.outbox(0, 1)[0]!.attempts, 1);
});

Deno.test("a chat that is put off again and again delays no other chat", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  link.answer = ({ chatId }) => {
    if (chatId !== "#good") throw new NotConnectedError("the room is not joined yet");
  };
  for (let n = 0; n < 10; n++) await world.enqueue(["hi"], { chatId: `#${n}` });
  for (let second = 0; second < 100; second++) {
    world.clock.tick(1_000);
    await settled();
  }
  await world.enqueue(["now"], { chatId: "#good" });
  await settled();
  assertEquals(link.texts(), ["now"]);
});

Deno.test("a chat that fails for ever, or hangs, delays no other chat and no other runtime (C24)", async () => {
  await using world = new DeliveryWorld({ callTimeoutMs: 60_000 });
  const { link } = world.attach();
  const { link: other } = world.attach("email");
  link.answer = ({ chatId }) => {
    if (chatId === "#bad") throw "no error that anybody expected";
    if (chatId === "#hangs") return new Promise(() => {});
  };
  for (let n = 0; n < 100; n++) {
    await world.enqueue([`bad ${n}`], { chatId: "#bad" });
    await world.enqueue([`hangs ${n}`], { chatId: "#hangs" });
  }
  await world.enqueue(["a", "b"]);
  await world.enqueue(["mail"], { channel: "email", chatId: "a@b" });
  await settled();
  assertEquals([link.texts(), other.texts()], [["a", "b"], ["mail"]]);
  // Nobody knows of one that was not answered.
  world.clock.tick(60_000);
  await settled();
  assertEquals(world.deliveries.counts("irc").unknown, 1);
  assertEquals(world.errors, []);
});

Deno.test("stop() during a wait ends at once, and the message goes on waiting (C25)", async () => {
  const world = new DeliveryWorld();
  const { link } = world.attach();
  link.answer = () => {
    throw new RetryLaterError("slow down", 3_600_000);
  };
  await world.enqueue(["hi"]);
  await settled();
  await world.deliveries.stop(60_000);
  assertEquals(world.rows, ["pending hi"]);
  // Nothing of it is left that would hold up the process.
  world.clock.tick(4 * 3_600_000);
  await settled();
  assertEquals(link.calls.length, 1);
  await world.journal.close();
});

Deno.test("stop() gives what is being sent its time, and no more", async () => {
  for (const inTime of [true, false]) {
    const world = new DeliveryWorld();
    const { link } = world.attach();
    const sent = Promise.withResolvers<void>();
    link.answer = () => sent.promise;
    await world.enqueue(["hi", "next"]);
    await settled();
    const stopped = world.deliveries.stop(5_000);
    if (inTime) sent.resolve();
    await settled();
    world.clock.tick(5_000);
    await stopped;
    assertEquals(world.rows, [inTime ? "sent hi" : "sending hi", "pending next"]);
    sent.resolve();
    await world.journal.close();
  }
});

Deno.test("a runtime that does not run uses up no attempt", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  link.isRunning = false;
  await world.enqueue(["hi"]);
  world.clock.tick(60_000);
  await settled();
  assertEquals(link.calls, []);
  link.isRunning = true;
  world.deliveries.wake("irc");
  await settled();
  assertEquals(link.texts(), ["hi"]);
  // One that ends under a call neither.
  link.answer = () => {
    link.isRunning = false;
    throw new Error("the connection is gone");
  };
  await world.enqueue(["again"]);
  for (let n = 0; n < 20; n++) {
    await settled(10);
    link.isRunning = n % 3 === 0;
    world.clock.tick(1_000);
  }
  const row = world.journal.outbox(1, 1)[0]!;
  assertEquals([row.state, row.attempts], ["pending", 0]);
  link.answer = () => {};
  link.isRunning = true;
  for (let n = 0; n < 3; n++) {
    world.clock.tick(1_000);
    await settled();
  }
  assertEquals(link.texts(), ["hi", "again"]);
});

Deno.test("detach() resolves when nothing is being sent; the next link goes on", async () => {
  await using world = new DeliveryWorld();
  const { link, detach } = world.attach();
  const sent = Promise.withResolvers<void>();
  link.answer = () => sent.promise;
  await world.enqueue(["1", "2"]);
  await settled();
  let isDetached = false;
  const detached = detach().then(() => isDetached = true);
  const next = world.attach();
  await settled();
  assertEquals([isDetached, next.link.calls], [false, []]);
  sent.resolve();
  await detached;
  world.clock.tick(1_000);
  await settled();
  assertEquals([link.texts(), next.link.texts()], [["1"], ["2"]]);
  assertEquals(world.rows, ["sent 1", "sent 2"]);
});

Deno.test("what may have arrived is unknown and not sent again, unless the channel can tell a repeat", async () => {
  for (const isIdempotent of [false, true]) {
    await using world = new DeliveryWorld();
    const { link } = world.attach("irc", {
      spec: { capabilities: isIdempotent ? ["idempotent_send"] : [] },
    });
    let lost = true;
    link.answer = () => {
      if (lost) throw new UncertainDeliveryError("the worker is gone");
    };
    await world.enqueue(["hi"]);
    await settled();
    lost = false;
    world.clock.tick(1_000);
    await settled();
    assertEquals(world.rows, [isIdempotent ? "sent hi" : "unknown hi"]);
    assertEquals(link.calls.length, isIdempotent ? 2 : 1);
    assertEquals(world.deliveries.counts("irc").unknown, isIdempotent ? 0 : 1);
  }
});

Deno.test("at most 32 chats are served at once, and every one has its turn", async () => {
  await using world = new DeliveryWorld();
  for (let chat = 0; chat < 300; chat++) {
    await world.enqueue(["1", "2"], { chatId: `#${chat}` });
  }
  const { link } = world.attach();
  link.answer = () => settled(1);
  await settled(400);
  assertEquals(link.arrived.length, 600);
  assertLess(link.mostUnderWay, 33);
  assert(link.mostUnderWay > 8, `${link.mostUnderWay} at once`);
  assertEquals(world.deliveries.counts("irc").waiting, 0);
});

Deno.test("a message of a channel that is not enabled waits until it expires, or the channel is (D6)", async () => {
  await using world = new DeliveryWorld();
  await world.enqueue(["old"]);
  world.clock.tick(23 * 3_600_000);
  await world.enqueue(["new"]);
  world.clock.tick(2 * 3_600_000);
  const { link } = world.attach();
  await settled();
  assertEquals([link.texts(), world.rows], [["new"], ["expired old", "sent new"]]);
});

Deno.test("resend() and drop() decide about what is dead, unknown or waits", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  link.answer = () => {
    throw new PermanentDeliveryError("the chat is gone");
  };
  await world.enqueue(["a", "b"]);
  await settled();
  link.answer = () => {};
  const { deliveries } = world.journal;
  assertEquals((await deliveries.resend(1)).state, "pending");
  world.deliveries.wake("irc", "#a");
  assertEquals((await deliveries.drop(2)).state, "expired");
  await settled();
  assertEquals([link.texts(), world.rows], [["a"], ["sent a", "expired b"]]);
  assertEquals(world.deliveries.counts("irc").dead, 0);
});

Deno.test("the answer of a turn is one message; what it said before is progress (C29)", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  await world.begin("t1");
  await world.say("t1", ...segment("s1", ["I will ", "look."], true));
  await settled();
  await world.say("t1", { type: "tool_call", callId: "c", tool: "read", args: {}, hint: "read a" });
  await settled();
  await world.say("t1", { type: "notice", text: "Trying again" });
  await settled();
  await world.say("t1", { type: "reasoning_delta", streamId: "r", text: "hm" });
  await world.say("t1", { type: "reasoning_end", streamId: "r" });
  await settled();
  await world.say("t1", ...segment("s2", ["The ", "answer."]));
  await world.end("t1");
  await settled();
  assertEquals(link.lines, [
    "progress I will look.",
    "tool_hint read a",
    "progress Trying again",
    "thought hm",
    "send The answer.",
    "turn_end done",
  ]);
  assertEquals(world.rows, ["sent The answer."]);
  const [answer] = world.journal.outbox(0, 1);
  assertEquals([answer!.turnId, answer!.metadata], ["t1", { message_id: "7" }]);
  assertEquals(world.journal.deliveries.turns(0, 9), []);
});

for (const flag of ["sendProgress", "sendToolHints", "showReasoning"] as const) {
  Deno.test(`${flag} alone shows what it is for (C29)`, async () => {
    await using world = new DeliveryWorld();
    const flags = { sendProgress: false, sendToolHints: false, showReasoning: false, [flag]: true };
    const { link } = world.attach("irc", { spec: { flags } });
    await world.begin("t1");
    await world.say("t1", ...segment("s1", ["first"], true));
    await settled();
    await world.say("t1", { type: "tool_call", callId: "c", tool: "x", args: {}, hint: "hint" });
    await settled();
    await world.say("t1", { type: "reasoning_delta", streamId: "r", text: "hm" });
    await world.say("t1", { type: "reasoning_end", streamId: "r" });
    await settled();
    // A message of somebody else that is one of these is left out in the same way.
    await world.enqueue(["elsewhere"], { metadata: { _progress: true } });
    await world.enqueue(["elsewhere"], { event: { type: "progress", toolHint: true } });
    await settled();
    await world.say("t1", ...segment("s2", ["answer"]));
    await world.end("t1");
    await settled();
    const shown = {
      sendProgress: ["progress first", "send elsewhere"],
      sendToolHints: ["tool_hint hint", "tool_hint elsewhere"],
      showReasoning: ["thought hm"],
    };
    assertEquals(link.lines, [...shown[flag], "send answer", "turn_end done"]);
  });
}

Deno.test("progress is shown once, the newest alone, and never tried again", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  const first = Promise.withResolvers<void>();
  link.answer = async (call) => {
    if (link.calls.length === 1) await first.promise;
    if (call.member === "send" && call.message.event !== undefined) throw new Error("too many");
  };
  await world.begin("t1");
  for (let n = 0; n < 50; n++) {
    await world.say("t1", { type: "tool_call", callId: `${n}`, tool: "x", args: {}, hint: `${n}` });
  }
  await settled();
  first.resolve();
  await settled();
  await world.say("t1", ...segment("s", ["answer"]));
  await world.end("t1");
  world.clock.tick(10_000);
  await settled();
  assertEquals(
    link.calls.map((call) => call.member === "send" ? call.message.content : ""),
    ["0", "49", "answer", ""],
  );
  assertEquals(link.texts(), ["answer"]);
});

Deno.test("an approval is a message with its event and words that say how to answer", async () => {
  await using world = new DeliveryWorld();
  const approval = {
    id: "apr_aaaabbbbccccdddd",
    digest: "0123456789abcdef".repeat(4),
    capability: "exec" as const,
    tool: "exec",
    target: "rm -r ```x```",
    details: "",
    isWhole: true,
    session: "irc:a",
    channel: "irc",
    actor: "irc:someone",
    createdAt: world.clock.now(),
    expiresAt: world.clock.now() + 120_000,
  };
  const brief = { text: "rm -r ```x```", isWhole: true };
  const asks = { type: "approval_requested" as const, callId: "c", tool: "exec", approval, brief };
  const { link } = world.attach();
  await world.begin("t1");
  await world.say("t1", asks);
  await settled();
  const [call] = link.arrived;
  assert(call?.member === "send");
  assertEquals(call.message.event, {
    type: "approval",
    id: approval.id,
    digest: approval.digest,
    expiresAt: approval.expiresAt,
  });
  assertStringIncludes(call.message.content, "`/approve apr_aaaabbbbccccdddd 01234567`");
  assertStringIncludes(call.message.content, "`/deny apr_aaaabbbbccccdddd`");
  assertStringIncludes(call.message.content, "````\nrm -r ```x```\n````");
  // However it came out, the chat that was asked is told.
  const resolved = { type: "approval_resolved" as const, callId: "c" };
  await world.say("t1", { ...resolved, approvalId: approval.id, outcome: "denied" });
  await settled();
  const told = link.arrived.at(-1);
  assert(told?.member === "send");
  assertEquals(told.message.event, {
    type: "approval_resolved",
    id: approval.id,
    outcome: "denied",
  });
  assertEquals(told.message.content, "Denied: apr_aaaabbbbccccdddd.");
  // One that was answered elsewhere, or whose time is over, is not asked for any more.
  link.isRunning = false;
  await world.begin("t2");
  await world.say("t2", { ...asks, approval: { ...approval, id: "apr_2" } });
  await world.say("t2", { ...asks, approval: { ...approval, id: "apr_3" } });
  const outcome = "approved" as const;
  await world.say("t2", { type: "approval_resolved", callId: "c", approvalId: "apr_2", outcome });
  await settled();
  world.clock.tick(121_000);
  link.isRunning = true;
  world.deliveries.wake("irc");
  await settled();
  // Nor is what it never heard of.
  assertEquals(link.calls.length, 2);
  assertEquals(world.journal.outbox(0, 9).map(({ state }) => state), [
    "sent",
    "sent",
    "expired",
    "expired",
  ]);
});

Deno.test("an approval that waited when the service died is over, and the chat that was asked is told", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    const clock = fakeClock();
    const approval = (id: string) => ({
      id,
      digest: "0".repeat(64),
      capability: "exec" as const,
      tool: "exec",
      target: "true",
      details: "",
      isWhole: true,
      session: "irc:a",
      channel: "irc",
      actor: "irc:someone",
      createdAt: clock.now(),
      expiresAt: clock.now() + 120_000,
    });
    const asks = (id: string) => ({
      type: "approval_requested" as const,
      callId: id,
      tool: "exec",
      approval: approval(id),
    });
    {
      await using before = new DeliveryWorld({ path, clock });
      const { link } = before.attach();
      await before.begin("t1");
      await before.say("t1", asks("apr_shown"));
      await settled();
      assertEquals(link.calls.length, 1);
      link.isRunning = false;
      await before.say("t1", asks("apr_never_shown"));
      await settled();
    }
    const journal = openJournal({ path, now: clock.now });
    await journal.recover();
    await using after = new DeliveryWorld({ journal, clock });
    const { link } = after.attach();
    await settled();
    assertEquals(
      link.arrived.map((call) => call.member === "send" && call.message.event),
      [{ type: "approval_resolved", id: "apr_shown", outcome: "void" }],
    );
  }));

for (
  const [status, words] of [
    ["cancelled", "Cancelled."],
    ["failed", "This could not be answered: no luck."],
    ["timed_out", "This took too long and was ended: no luck."],
    ["interrupted", "This was interrupted: no luck. Please send it again."],
  ] as const
) {
  Deno.test(`a turn that ended as ${status} closes its stream and says so in words (C26)`, async () => {
    await using world = new DeliveryWorld();
    const { link } = world.attach("irc", { supportsStreaming: true });
    await world.begin("t1", { streaming: true });
    await world.say("t1", { type: "text_delta", streamId: "s", text: "The ans" });
    await settled();
    await world.end("t1", status, { code: "turn_failed", message: "no luck" });
    await settled();
    assertEquals(link.lines, ["s The ans", "s |", `send ${words}`, `turn_end ${status}`]);
  });
}

Deno.test("of turns that end while their chat waits, the last ends alone are kept", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  link.answer = (call) => {
    if (call.member === "send" && call.message.event === undefined) {
      throw new RetryLaterError("slow down", 60_000);
    }
  };
  for (let n = 0; n < 100; n++) {
    await world.begin(`t${n}`);
    await world.say(`t${n}`, ...segment(`s${n}`, [`answer ${n}`]));
    await world.end(`t${n}`);
    await settled(6);
  }
  assertEquals(world.deliveries.counts("irc").waiting, 100);
  link.answer = () => {};
  world.clock.tick(60_000);
  await settled(600);
  assertEquals(link.texts(), Array.from({ length: 100 }, (_, n) => `answer ${n}`));
  const ends = link.lines.filter((line) => line.startsWith("turn_end"));
  assertEquals(ends.length, 64);
  assertEquals(world.journal.counts().waitingFollowers, 0);
});

Deno.test("while nothing can be noted nothing is sent twice, and it goes on when it can", async () => {
  const clock = fakeClock();
  const journal = openJournal({ path: ":memory:", now: () => clock.now() });
  let isFull = false;
  const orFull = <T>(run: () => Promise<T>) =>
    isFull ? Promise.reject(new Error("the disk is full")) : run();
  const { deliveries: store } = journal;
  await using world = new DeliveryWorld({
    clock,
    journal: {
      ...journal,
      deliveries: {
        ...store,
        claim: (...given) => orFull(() => store.claim(...given)),
        settle: (...given) => orFull(() => store.settle(...given)),
        move: (...given) => orFull(() => store.move(...given)),
      },
    },
  });
  const { link } = world.attach("irc", { supportsStreaming: true });
  link.answer = () => {
    isFull = true;
  };
  await world.begin("t1", { streaming: true, chatId: "#b" });
  await world.enqueue(["1", "2"]);
  await world.say("t1", ...segment("s", ["streamed"]));
  await world.end("t1");
  for (let n = 0; n < 5; n++) {
    await settled();
    clock.tick(1_000);
  }
  const before = link.calls.length;
  assertEquals(link.texts(), ["1"]);
  assertEquals(world.errors, ["Cannot read or note how deliveries are: Error: the disk is full"]);
  link.answer = () => {};
  isFull = false;
  for (let n = 0; n < 5; n++) {
    await settled();
    clock.tick(1_000);
  }
  assert(link.calls.length > before);
  assertEquals(link.texts(), ["1", "2"]);
  assertEquals(link.lines.filter((line) => line.startsWith("s ")), ["s streamed|"]);
  assertEquals(world.rows, ["sent 1", "sent 2"]);
});

Deno.test("an answer that cannot be read for a while goes out when it can be, and once", async () => {
  const journal = openJournal({ path: ":memory:" });
  let failures = 0;
  const failing = {
    ...journal,
    async *follow(...args: Parameters<typeof journal.follow>) {
      for await (const stored of journal.follow(...args)) {
        if (failures > 0) {
          failures--;
          throw new Error("disk I/O error");
        }
        yield stored;
      }
    },
  };
  await using world = new DeliveryWorld({ journal: failing });
  const { link } = world.attach();
  await world.begin("t1");
  failures = 2;
  await world.say("t1", ...segment("s", ["hello"]));
  await world.end("t1");
  for (let s = 0; s < 3; s++) {
    await settled();
    world.clock.tick(1_000);
  }
  await settled();
  assertEquals([link.texts(), world.errors.length], [["hello"], 1]);
  assertEquals(world.journal.deliveries.turns(0, 1), []);
});

Deno.test("no channel hears of a turn whose answer does not go there", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  await world.journal.accept({
    id: "other",
    sessionKey: "irc:a",
    channel: "cli",
    actor: "cli:local",
    input: [{ type: "text", text: "x" }],
    durable: false,
  });
  world.deliveries.follow("other");
  world.deliveries.follow("none");
  await world.journal.start("other");
  await world.say("other", ...segment("s", ["for the terminal"]));
  await world.end("other");
  await settled();
  assertEquals(link.calls, []);
});

Deno.test("files of an answer go out in their order, to channels that take files", async () => {
  for (const capabilities of [["media"], []] as const) {
    await using world = new DeliveryWorld();
    const { link } = world.attach("irc", { spec: { capabilities } });
    await world.begin("t1", { metadata: { message_id: "5" } });
    const file = { name: "report.pdf", path: "/data/report" };
    await world.say("t1", { type: "files", files: [file] });
    await world.say("t1", ...segment("s", ["Here it is."]));
    await world.end("t1");
    await settled();
    const sent = link.arrived.flatMap((call) =>
      call.member === "send" && call.message.event === undefined ? [call.message] : []
    );
    assertEquals(sent.map(({ media, metadata }) => [media, metadata]), [
      [capabilities.length === 0 ? [] : [file.path], { message_id: "5" }],
      [[], { message_id: "5" }],
    ]);
    assertEquals(sent.map(({ content }) => content), [
      capabilities.length === 0 ? "(Not sent, as this channel takes no files: report.pdf)" : "",
      "Here it is.",
    ]);
  }
});

Deno.test("what a tool says while it runs is shown by channels that show progress", async () => {
  for (const capabilities of [["progress"], []] as const) {
    await using world = new DeliveryWorld();
    const { link } = world.attach("irc", { spec: { capabilities } });
    await world.begin("t1");
    await world.say("t1", { type: "tool_progress", callId: "c", tool: "exec", text: "half" });
    await settled();
    assertEquals(link.lines, capabilities.length === 0 ? [] : ["progress half"]);
    await world.end("t1");
    await settled();
  }
});

Deno.test("thoughts are shown whole where answers are, and piece by piece where answers are", async () => {
  for (const streaming of [false, true]) {
    await using world = new DeliveryWorld();
    const { link } = world.attach("irc", { supportsStreaming: streaming });
    await world.begin("t1", { streaming });
    await world.say("t1", { type: "reasoning_delta", streamId: "r", text: "let me " });
    await settled();
    await world.say("t1", { type: "reasoning_delta", streamId: "r", text: "see" });
    await world.say("t1", { type: "reasoning_end", streamId: "r" });
    await settled();
    assertEquals(
      link.lines,
      streaming ? ["think let me ", "think see", "think|"] : ["thought let me see"],
    );
    await world.end("t1");
    await settled();
  }
});
