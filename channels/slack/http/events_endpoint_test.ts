import { assertEquals } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import type { Envelope } from "../socket/socket_connection.ts";
import { answerSlack } from "./events_endpoint.ts";
import { SlackSignature } from "./slack_signature.ts";

const URL_OF = "http://127.0.0.1/slack/events";
const secret = "8f742231b10e8888abcd99yyyzzz85a5";
const clock = fakeClock();
const encoder = new TextEncoder();

/** A request as Slack signs it, and what comes of it. */
async function ask(
  payload: unknown,
  { url = URL_OF, method = "POST", isForm = false, skewS = 0, headers = {}, told = [], take }: {
    url?: string;
    method?: string;
    isForm?: boolean;
    skewS?: number;
    headers?: Record<string, string>;
    told?: Envelope[];
    take?: () => Promise<void>;
  } = {},
): Promise<Response> {
  const signature = new SlackSignature(secret);
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const body = isForm ? new URLSearchParams({ payload: text }).toString() : text;
  const timestamp = String(Math.floor(clock.now() / 1_000) - skewS);
  const request = new Request(url, {
    method,
    headers: {
      "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": await signature.sign(timestamp, encoder.encode(body)),
      ...headers,
    },
    ...method === "POST" && { body },
  });
  return await answerSlack(request, {
    signature,
    clock,
    log: { warning: () => {} },
    onEnvelope: (envelope) => {
      told.push(envelope);
      return take?.() ?? Promise.resolve();
    },
    onMissed: () => {},
  });
}

Deno.test("SlackSignature signs as Slack's documents show it", async () => {
  const signature = new SlackSignature("8f742231b10e8888abcd99yyyzzz85a5");
  const body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow" +
    "&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner" +
    "&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands" +
    "%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
    "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  assertEquals(
    await signature.sign("1531420618", encoder.encode(body)),
    "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  );
});

Deno.test("answerSlack() answers the challenge, and tells events and clicks", async () => {
  const told: Envelope[] = [];
  const challenge = await ask({ type: "url_verification", challenge: "abc" });
  assertEquals(await challenge.json(), { challenge: "abc" });
  const event = { type: "event_callback", event: {} };
  assertEquals((await ask(event, { told })).status, 200);
  const click = { type: "block_actions", actions: [] };
  assertEquals((await ask(click, { told, isForm: true })).status, 200);
  assertEquals(told, [
    { type: "events_api", payload: event },
    { type: "interactive", payload: click },
  ]);
});

Deno.test("answerSlack() takes nothing that Slack has not signed now", async () => {
  const told: Envelope[] = [];
  const event = { type: "event_callback", event: {} };
  const wrong: { skewS?: number; headers?: Record<string, string> }[] = [
    { skewS: 301 },
    { skewS: -302 },
    { headers: { "x-slack-signature": `v0=${"0".repeat(64)}` } },
    { headers: { "x-slack-signature": "v0=abc" } },
    { headers: { "x-slack-signature": "" } },
    { headers: { "x-slack-request-timestamp": "now" } },
    { headers: { "x-slack-request-timestamp": String(Math.floor(clock.now() / 1_000) - 1) } },
  ];
  for (const options of wrong) {
    assertEquals((await ask(event, { ...options, told })).status, 401, JSON.stringify(options));
  }
  assertEquals((await ask(event, { skewS: 299, told })).status, 200);
  assertEquals(told.length, 1);
});

Deno.test("answerSlack() refuses what is no request of Slack's", async () => {
  assertEquals((await ask({}, { url: "http://127.0.0.1/" })).status, 404);
  assertEquals((await ask({}, { method: "GET" })).status, 405);
  assertEquals((await ask("not json")).status, 400);
  assertEquals((await ask("3")).status, 400);
  assertEquals((await ask("x".repeat(5 * 1024 * 1024))).status, 413);
});

Deno.test("answerSlack() has Slack come again where a message could not be kept in time", async () => {
  const event = { type: "event_callback", event: {} };
  const fails = await ask(event, { take: () => Promise.reject(new Error("the disk is full")) });
  assertEquals(fails.status, 503);
  const begun = Promise.withResolvers<void>();
  const late = ask(event, {
    take: () => {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  await begun.promise;
  await Promise.resolve();
  clock.tick(2_500);
  assertEquals((await late).status, 503);
});

Deno.test("answerSlack() reads nothing of whom cannot have signed", async () => {
  const now = Math.floor(clock.now() / 1_000);
  const right = { "x-slack-signature": `v0=${"0".repeat(64)}` };
  for (
    const headers of [
      {},
      { ...right },
      { ...right, "x-slack-request-timestamp": "now" },
      { ...right, "x-slack-request-timestamp": String(now - 301) },
      { "x-slack-signature": "v0=1", "x-slack-request-timestamp": String(now) },
    ]
  ) {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls += 1;
        controller.enqueue(new Uint8Array(1_024));
      },
    }, { highWaterMark: 0 });
    const request = new Request(URL_OF, { method: "POST", headers: headers as HeadersInit, body });
    const answer = await answerSlack(request, {
      signature: new SlackSignature(secret),
      clock,
      log: { warning: () => {} },
      onEnvelope: () => Promise.resolve(),
      onMissed: () => {},
    });
    assertEquals([answer.status, pulls], [401, 0]);
  }
});
