import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Clock } from "../../lib/base/clock.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { PermanentDeliveryError, RetryLaterError } from "../../lib/channel/delivery_error.ts";
import type { OutboundMessage } from "../../lib/contract/outbound_message.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { needs } from "../../tests/support/needs.ts";
import { WebhookChannel, type WebhookConfig } from "./runtime.ts";
import { SECRET, TestPlatform } from "./testing/test_platform.ts";

/** A channel that runs, with its host and the system on the other side. */
interface Running {
  channel: WebhookChannel;
  host: FakeHost<Clock>;
  platform: TestPlatform;
}

const DEFAULTS = {
  host: "127.0.0.1",
  path: "/webhook",
  previousSecret: "",
  events: false,
  timeoutS: 15,
  waitS: 60,
  maxPerMinute: 600,
  allowFrom: ["alice"],
  streaming: false,
};

async function withChannel(
  changes: Partial<WebhookConfig>,
  run: (running: Running) => Promise<void>,
): Promise<void> {
  const platform = await TestPlatform.open();
  const host = await FakeHost.openWith({ name: "webhook", clock: systemClock });
  const config = { ...DEFAULTS, ...platform.section, ...changes } as unknown as WebhookConfig;
  const channel = new WebhookChannel(config, host);
  const started = channel.start();
  try {
    await platform.connected();
    await run({ channel, host, platform });
  } finally {
    await channel.stop();
    await started;
    await platform.close();
    await host.close();
  }
}

const MESSAGE = { chat_id: "room-1", sender_id: "alice", text: "hello" };

function answer(content: string, more: Partial<OutboundMessage> = {}): OutboundMessage {
  return {
    id: "out-1",
    channel: "webhook",
    chatId: "room-1",
    content,
    media: [],
    metadata: {},
    ...more,
  };
}

Deno.test("webhook: a message starts a turn, and its answer comes to the URL", async () => {
  await withChannel({}, async ({ channel, host, platform }) => {
    const { status, body } = await platform.post({
      id: "msg_1",
      body: { ...MESSAGE, id: "own-7", sender_name: "Alice", metadata: { thread: 5 } },
    });
    assertEquals([status, body], [202, { status: "accepted", turn_id: "turn-1", repeated: false }]);
    const [published] = host.published;
    assertEquals(published, {
      chatId: "room-1",
      senderId: "alice",
      senderName: "Alice",
      content: "hello",
      messageId: "msg_1",
      media: [],
      metadata: { webhook_id: "msg_1", message_id: "own-7", data: { thread: 5 } },
      streaming: false,
    });
    await channel.send(answer("**hi**", { metadata: published!.metadata }));
    assertEquals(platform.events, [{
      type: "message",
      id: "out-1",
      channel: "webhook",
      chat_id: "room-1",
      reply_to: "own-7",
      metadata: { thread: 5 },
      text: "**hi**",
      media: [],
    }]);
    assertEquals(platform.ids, ["out-1"]);
  });
});

Deno.test(needs("webhook: curl can send a signed message", "curl"), async () => {
  await withChannel({}, async ({ host, platform }) => {
    const body = JSON.stringify(MESSAGE);
    const headers = await platform.sign("msg_curl", body);
    const curl = await new Deno.Command("curl", {
      args: [
        ...["-sS", "-w", "\n%{http_code}", "--data-raw", body],
        ...["-H", "content-type: application/json"],
        ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
        platform.channelUrl,
      ],
    }).output();
    const said = new TextDecoder().decode(curl.stdout).split("\n");
    assertEquals(said, ['{"status":"accepted","turn_id":"turn-1","repeated":false}', "202"]);
    assertEquals(host.published.length, 1);
  });
});

Deno.test("webhook: what is sent again starts no second turn and is answered alike (W2)", async () => {
  await withChannel({}, async ({ platform }) => {
    const first = await platform.post({ id: "msg_1", body: MESSAGE });
    for (let times = 0; times < 3; times++) {
      const again = await platform.post({ id: "msg_1", body: MESSAGE });
      assertEquals([again.status, again.body.turn_id], [first.status, first.body.turn_id]);
      assertEquals(again.body.repeated, true);
    }
    const all = await Promise.all(
      Array.from({ length: 5 }, () => platform.post({ id: "msg_2", body: MESSAGE })),
    );
    assertEquals(new Set(all.map(({ body }) => body.turn_id)).size, 1);
  });
});

Deno.test("webhook: a request that is not signed as it must be is told no more than that", async () => {
  await withChannel({}, async ({ host, platform }) => {
    const body = JSON.stringify(MESSAGE);
    const now = Math.floor(Date.now() / 1_000);
    const good = await platform.sign("msg_1", body, now);
    const old = await platform.sign("msg_1", body, now - 301);
    const early = await platform.sign("msg_1", body, now + 330);
    const said = new Set<string>();
    for (
      const headers of [
        {},
        { ...good, "webhook-id": "msg_2" },
        { ...good, "webhook-timestamp": String(now - 1) },
        { ...good, "webhook-signature": good["webhook-signature"].replace(/.{4}$/, "AAA=") },
        { ...good, "webhook-signature": "" },
        old,
        early,
      ]
    ) {
      const response = await fetch(platform.channelUrl, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers as Record<string, string> },
        body,
      });
      assertEquals(response.status, 401);
      said.add(await response.text());
    }
    assertEquals(said.size, 1);
    assertEquals(host.offered, []);
    assert(!JSON.stringify([...said, host.lines]).includes(SECRET.slice(6)));
  });
});

Deno.test("webhook: requests that are none are refused with their reason", async () => {
  await withChannel({}, async ({ host, platform }) => {
    const url = platform.channelUrl;
    const status = async (input: string, init?: RequestInit) => {
      const response = await fetch(input, init);
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await status(url), 405);
    assertEquals(await status(`${url}/more`, { method: "POST" }), 404);
    assertEquals(await status(url, { method: "POST", body: "a=1" }), 415);
    const wrong = await platform.post({ body: { ...MESSAGE, chat_id: "" } });
    assertEquals([wrong.status, wrong.body.error.param], [400, "chat_id"]);
    const unknown = await platform.post({ body: { ...MESSAGE, txet: "x" } });
    assertEquals([unknown.status, unknown.body.error.param], [400, "txet"]);
    const stranger = await platform.post({ body: { ...MESSAGE, sender_id: "alice2" } });
    assertEquals([stranger.status, stranger.body.error.code], [403, "forbidden_sender"]);
    const large = await platform.post({ body: { ...MESSAGE, text: "x".repeat(17 * 1024 * 1024) } })
      .catch(() => ({ status: 413 }));
    assertEquals(large.status, 413);
    const long = await platform.post({ body: { ...MESSAGE, text: "x".repeat(300_000) } });
    assertEquals([long.status, long.body.error.param], [400, "text"]);
    assertEquals(host.published, []);
  });
});

Deno.test("webhook: it is acknowledged when the message is on record, and not otherwise", async () => {
  await withChannel({}, async ({ host, platform }) => {
    for (
      const [error, status] of [
        [new ServiceError("queue_full", "The session has too much to do"), 429],
        [new ServiceError("draining", "The service stops"), 503],
        [new ServiceError("internal", "SQL error"), 500],
        [new Error("disk full"), 500],
      ] as const
    ) {
      host.failNext(error);
      const answered = await platform.post({ id: "msg_1", body: MESSAGE });
      assertEquals(answered.status, status);
      assertEquals(answered.headers.has("retry-after"), status === 429 || status === 503);
      assert(!JSON.stringify(answered.body).match(/SQL|disk/));
    }
    assertEquals((await platform.post({ id: "msg_1", body: MESSAGE })).body.repeated, false);
  });
});

Deno.test("webhook: more messages a minute than it takes wait for their turn", async () => {
  await withChannel({ maxPerMinute: 4 }, async ({ host, platform }) => {
    // Nobody without the secret uses it up.
    for (let times = 0; times < 3; times++) {
      const { status } = await platform.post({ body: MESSAGE, headers: { "webhook-id": "x" } });
      assertEquals(status, 401);
    }
    assertEquals((await platform.post({ body: MESSAGE })).status, 202);
    const { status, headers } = await platform.post({ body: MESSAGE });
    assertEquals([status, headers.get("retry-after")], [429, "5"]);
    assertEquals(host.published.length, 1);
  });
});

Deno.test("webhook: files come in by data URLs and are gone behind their message", async () => {
  await withChannel({}, async ({ host, platform }) => {
    const seen: string[] = [];
    const { publish } = host;
    host.publish = async (message) => {
      for (const path of message.media ?? []) {
        seen.push(`${path.split("/").at(-1)} ${await Deno.readTextFile(path)}`);
      }
      return await publish.call(host, message);
    };
    const file = { name: "a.txt", data_url: `data:text/plain;base64,${btoa("hello")}` };
    assertEquals((await platform.post({ body: { ...MESSAGE, media: [file, file] } })).status, 202);
    assertEquals(seen, ["a.txt hello", "a.txt hello"]);
    const folders = [...Deno.readDirSync(`${host.stateDir}/files`)];
    assertEquals(folders, []);
  });
});

Deno.test("webhook: with wait the answer comes in the response", async () => {
  await withChannel({ url: "" }, async ({ channel, host, platform }) => {
    const response = platform.post({ id: "msg_1", body: { ...MESSAGE, wait: true } });
    await host.changed();
    const metadata = { webhook_id: "msg_1" };
    await channel.send(
      answer("looking…", { metadata, event: { type: "progress", toolHint: true } }),
    );
    await channel.send(answer("one", { metadata, id: "a" }));
    await channel.send(answer("one", { metadata, id: "a" }));
    await channel.send(answer("two", { metadata, id: "b" }));
    await channel.send(answer("", { metadata, event: { type: "turn_end", status: "done" } }));
    const { status, body } = await response;
    assertEquals(status, 200);
    assertEquals(body, {
      status: "done",
      turn_id: "turn-1",
      repeated: false,
      text: "one\n\ntwo",
      replies: [{ id: "a", text: "one", media: [] }, { id: "b", text: "two", media: [] }],
    });
    const again = await platform.post({ id: "msg_1", body: { ...MESSAGE, wait: true } });
    assertEquals([again.status, again.body], [200, { ...body, repeated: true }]);
    assertEquals(platform.events, []);
  });
});

Deno.test("webhook: a wait ends in time, and goes on with the same request", async () => {
  await withChannel({ waitS: 1, url: "" }, async ({ channel, platform }) => {
    const request = { id: "msg_1", body: { ...MESSAGE, wait: true } };
    const first = await platform.post(request);
    assertEquals([first.status, first.body.status, first.body.text], [202, "running", ""]);
    const metadata = { webhook_id: "msg_1" };
    await channel.send(answer("late", { metadata }));
    await channel.send(answer("", { metadata, event: { type: "turn_end", status: "done" } }));
    const { status, body } = await platform.post(request);
    assertEquals([status, body.text, body.repeated], [200, "late", true]);
  });
});

Deno.test("webhook: an answer of the process before is given to who asks again (W1)", async () => {
  await withChannel({ url: "" }, async ({ channel, host, platform }) => {
    const metadata = { webhook_id: "msg_1", wait: true };
    await assertRejects(() => channel.send(answer("late", { metadata })), RetryLaterError);
    host.publish = () => Promise.resolve({ kind: "turn", turnId: "turn-1", repeated: true });
    const response = platform.post({ id: "msg_1", body: { ...MESSAGE, wait: true } });
    for (;;) {
      const sent = await channel.send(answer("late", { metadata })).then(() => true, () => false);
      if (sent) break;
      await new Promise((again) => setTimeout(again, 1));
    }
    const { status, body } = await response;
    assertEquals([status, body.status, body.text, body.repeated], [200, "unknown", "late", true]);
  });
});

Deno.test("webhook: nobody waits for a channel that ends", async () => {
  await withChannel({ url: "" }, async ({ channel, host, platform }) => {
    const response = platform.post({ id: "msg_1", body: { ...MESSAGE, wait: true } });
    await host.changed();
    await channel.stop();
    const { status, body } = await response;
    assertEquals([status, body.status], [202, "running"]);
  });
});

Deno.test("webhook: a command that is waited for ends with its answer", async () => {
  await withChannel({ url: "" }, async ({ channel, host, platform }) => {
    host.publish = () => Promise.resolve({ kind: "command" });
    const response = platform.post({
      id: "msg_1",
      body: { ...MESSAGE, text: "/help", wait: true },
    });
    for (;;) {
      const sent = await channel.send(answer("Help!", { metadata: { webhook_id: "msg_1" } }))
        .then(() => true, () => false);
      if (sent) break;
      await new Promise((again) => setTimeout(again, 1));
    }
    const { status, body } = await response;
    assertEquals([status, body.status, body.text], [200, "done", "Help!"]);
  });
});

Deno.test("webhook: a failed turn does not look like a good one to who waits (W6)", async () => {
  await withChannel({ url: "" }, async ({ channel, host, platform }) => {
    const response = platform.post({ id: "msg_1", body: { ...MESSAGE, wait: true } });
    await host.changed();
    const metadata = { webhook_id: "msg_1" };
    await channel.send(answer("", { metadata, event: { type: "turn_end", status: "failed" } }));
    assertEquals((await response).body.status, "failed");
  });
});

Deno.test("webhook: pieces come together for who waits", async () => {
  await withChannel({ url: "", streaming: true }, async ({ channel, host, platform }) => {
    const response = platform.post({ id: "msg_1", body: { ...MESSAGE, wait: true } });
    await host.changed();
    const metadata = { webhook_id: "msg_1" };
    const piece = { chatId: "room-1", metadata, streamId: "s", resuming: false };
    await channel.sendDelta({ ...piece, delta: "Hel", streamEnd: false });
    await channel.sendDelta({ ...piece, delta: "lo", streamEnd: true });
    await channel.send(answer("", { metadata, event: { type: "turn_end", status: "done" } }));
    assertEquals((await response).body.text, "Hello");
    await assertRejects(
      () => channel.sendDelta({ ...piece, metadata: {}, delta: "x", streamEnd: true }),
      PermanentDeliveryError,
      "nobody waits",
    );
  });
});

Deno.test("webhook: an answer that nobody waits for and no URL takes is refused for good", async () => {
  await withChannel({ url: "" }, async ({ channel }) => {
    await assertRejects(() => channel.send(answer("hi")), PermanentDeliveryError, "url is not set");
  });
});

Deno.test("webhook: what the receiver answers says whether to come again", async () => {
  await withChannel({}, async ({ channel, platform }) => {
    const failure = async (status: number, headers: Record<string, string> = {}) => {
      platform.reactions.push({ status, headers });
      return await assertRejects(() => channel.send(answer("hi"))) as Error;
    };
    for (const status of [400, 410, 413, 414, 415, 422, 431, 451]) {
      assert(await failure(status) instanceof PermanentDeliveryError, String(status));
    }
    const waits: number[] = [];
    for (const status of [301, 302, 307, 308, 401, 403, 404, 408, 425, 429, 500, 502, 503, 504]) {
      const error = await failure(status);
      assert(error instanceof RetryLaterError, String(status));
      waits.push(error.retryAfterMs);
    }
    assertEquals(waits.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
    assertEquals(waits.at(-1), 900_000);
    await channel.send(answer("hi"));
    for (const status of [429, 503]) {
      const error = await failure(status, { "retry-after": "7" });
      assert(error instanceof RetryLaterError && error.retryAfterMs === 7_000);
    }
    const date = new Date(Date.now() + 60_000).toUTCString();
    const dated = await failure(503, { "retry-after": date }) as RetryLaterError;
    assert(dated.retryAfterMs > 50_000 && dated.retryAfterMs <= 60_000);
    const unsaid = await failure(503, { "retry-after": "soon" }) as RetryLaterError;
    assertEquals(unsaid.retryAfterMs, 8_000);
    await channel.send(answer("hi"));
    // The same at every attempt, so that a receiver can tell.
    assertEquals(new Set(platform.ids), new Set(["out-1"]));
    assertEquals(platform.problems, []);
  });
});

Deno.test("webhook: a redirect is not followed", async () => {
  await withChannel({}, async ({ channel, platform }) => {
    platform.reactions.push({ status: 307, headers: { location: platform.section.url as string } });
    const error = await assertRejects(() => channel.send(answer("hi")), RetryLaterError);
    assertStringIncludes(error.message, "a redirect, which is not followed");
    assertEquals([platform.ids.length, platform.events.length], [1, 0]);
  });
});

Deno.test("webhook: a receiver that does not answer is left in time", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => new Promise((end) => request.signal.onabort = () => end(new Response())),
  );
  const url = `http://127.0.0.1:${(server.addr as Deno.NetAddr).port}/secret-token`;
  await withChannel({ url, timeoutS: 1 }, async ({ channel }) => {
    const error = await assertRejects(() => channel.send(answer("hi"))) as Error;
    assertStringIncludes(error.message, "no answer within 1 s");
    assert(!error.message.includes("secret-token"));
  });
  await withChannel({ url, timeoutS: 60 }, async ({ channel }) => {
    const sending = assertRejects(() => channel.send(answer("hi")));
    await channel.stop();
    await sending;
  });
  await server.shutdown();
});

Deno.test("webhook: a URL that leads back to the channel ends at once (C37)", async () => {
  await withChannel({ allowFrom: ["*"] }, async ({ channel, host, platform }) => {
    const config = { ...DEFAULTS, ...platform.section, url: platform.channelUrl, port: 0 };
    const mirror = new WebhookChannel(config as unknown as WebhookConfig, host);
    const started = mirror.start();
    while (!mirror.isRunning) await new Promise((again) => setTimeout(again, 1));
    await assertRejects(() => mirror.send(answer("hi")), PermanentDeliveryError, "answered 400");
    for (const type of ["progress", "turn_end", "typing", "delta"]) {
      const { status } = await platform.post({ body: { ...MESSAGE, type } });
      assertEquals(status, 400);
    }
    assertEquals(host.offered, []);
    await mirror.stop();
    await started;
    assert(channel.isRunning);
  });
});

Deno.test("webhook: events are sent where they are wanted", async () => {
  await withChannel({ events: true, streaming: true }, async ({ channel, platform }) => {
    await platform.post({ id: "msg_1", body: MESSAGE });
    await platform.event(({ type }) => type === "typing");
    const metadata = { webhook_id: "msg_1" };
    await channel.send(answer("ls", { metadata, event: { type: "progress", toolHint: true } }));
    await channel.sendReasoningDelta({ chatId: "room-1", delta: "hm", metadata, streamId: "r" });
    await channel.sendReasoningEnd({ chatId: "room-1", metadata, streamId: "r" });
    const piece = { chatId: "room-1", metadata, streamId: "s", resuming: false };
    await channel.sendDelta({ ...piece, delta: "ab", streamEnd: false });
    platform.reactions.push({ status: 500 });
    await assertRejects(() => channel.sendDelta({ ...piece, delta: "c", streamEnd: false }));
    await channel.sendDelta({ ...piece, delta: "cd", streamEnd: true });
    await channel.send(answer("", { metadata, event: { type: "turn_end", status: "done" } }));
    assertEquals(
      platform.events.map(({ type, text, offset, end, status, tool_hint }) =>
        JSON.stringify({ type, text, offset, end, status, tool_hint })
      ),
      [
        '{"type":"typing"}',
        '{"type":"progress","text":"ls","tool_hint":true}',
        '{"type":"reasoning_delta","text":"hm"}',
        '{"type":"reasoning_end"}',
        '{"type":"delta","text":"ab","offset":0,"end":false}',
        '{"type":"delta","text":"cd","offset":2,"end":true}',
        '{"type":"turn_end","status":"done"}',
      ],
    );
    assert(platform.events.every(({ reply_to }) => reply_to === "msg_1"));
  });
  await withChannel({}, async ({ channel, platform }) => {
    await channel.send(answer("ls", { event: { type: "progress", toolHint: false } }));
    await channel.send(answer("", { event: { type: "turn_end", status: "done" } }));
    const resolved = { type: "approval_resolved", id: "x", outcome: "denied" } as const;
    await channel.send(answer("Denied: x.", { event: resolved }));
    await channel.sendReasoningDelta({ chatId: "room-1", delta: "hm", metadata: {} });
    assertEquals(platform.events, []);
    const event = { type: "approval", id: "x", digest: "d".repeat(64), expiresAt: 5 } as const;
    await channel.send(answer("May it?", { event }));
    assertEquals(platform.events[0]!.approval, { id: "x", digest: "d".repeat(64), expires_at: 5 });
  });
});

Deno.test("webhook: a start that cannot listen says where and why", async () => {
  await withChannel({}, async ({ host, platform }) => {
    const config = { ...DEFAULTS, ...platform.section } as unknown as WebhookConfig;
    const second = new WebhookChannel(config, host);
    await assertRejects(() => second.start(), ServiceError, String(platform.section.port));
    assertEquals(second.isRunning, false);
    await second.stop();
  });
});

Deno.test(
  needs(
    "webhook: the shell lines of its page send a message and print the answer",
    "sh",
    "curl",
    "openssl",
  ),
  async () => {
    const page = await Deno.readTextFile(
      new URL("../../docs/channels/webhook.md", import.meta.url),
    );
    const [, lines] = /```sh\n(secret=[^]*?)```/.exec(page)!;
    await withChannel({}, async ({ channel, host, platform }) => {
      const run = new Deno.Command("sh", {
        args: ["-c", lines!.replaceAll("http://127.0.0.1:8780/webhook", platform.channelUrl)],
        env: { WEBHOOK_SECRET: SECRET },
        stdout: "piped",
      }).output();
      while (host.published.length === 0) await host.changed();
      const [{ metadata, content }] = host.published as [typeof host.published[0]];
      assertEquals(content, "Hello");
      await channel.send(answer("Hello Alice!", { metadata }));
      await channel.send(answer("", { metadata, event: { type: "turn_end", status: "done" } }));
      const said = JSON.parse(new TextDecoder().decode((await run).stdout));
      assertEquals([said.status, said.text], ["done", "Hello Alice!"]);
    });
  },
);
