// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * Many messages over three channels of one gateway: each is answered once, and memory stays as it is.
 * Two of the channels talk lines with this process, which gives them every message three times; the
 * third is the webhook.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/channels_soak.ts [--messages 20000]`; loopback only.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { LinePlatform } from "../lib/delivery/manager/testing/line_platform.ts";
import { Happenings } from "../tests/support/happenings.ts";
import { makeHome } from "../tests/support/home.ts";
import { channelStatuses, turnsOf } from "../tests/support/outbox_of.ts";
import { talkProject, talkSection } from "../tests/support/talk_channels.ts";
import { WebhookSide } from "../tests/support/webhook_side.ts";
import { residentMb, startModel } from "./processes.ts";

const args = parseArgs(Deno.args, { string: ["messages"] });
const each = Math.ceil(Number(args.messages ?? 20_000) / 3);

/** Chats of each channel at the same time, messages of each chat, and messages of a channel under way. */
const CHATS = 20;
const CHAT_MESSAGES = Math.max(25, Math.ceil(each / 300));
const WINDOW = 48;

/** At most so much more than after the first quarter: by then everything is loaded and warm. */
const MAX_GROWTH = 1.2;

const happenings = new Happenings();
await using model = await startModel(5);
await using project = await talkProject([
  { name: "talk" },
  { name: "chat", capabilities: ["idempotent_send"] },
]);
await using side = await WebhookSide.open(happenings);
await using talk = new LinePlatform();
await using chat = new LinePlatform();
await using home = await makeHome({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl: model.line } },
  log: { level: "warning" },
  channels: { webhook: side.section, talk: talkSection(talk), chat: talkSection(chat) },
}, project.root);
await using gateway = await home.start(["gateway", "--json"]);
await side.connected();
talk.onLine = chat.onLine = () => happenings.note();

const channels = [
  { name: "webhook", came: () => side.events.length, say: side.say.bind(side) },
  { name: "talk", came: () => talk.given.length, say: talk.say.bind(talk) },
  { name: "chat", came: () => chat.given.length, say: chat.say.bind(chat) },
];
const came = () => channels.reduce((sum, channel) => sum + channel.came(), 0);

const startedAt = performance.now();
const memory: number[] = [];
const sampling = (async () => {
  for (let at = 1; at <= 20; at++) {
    await happenings.until(() => came() >= at / 20 * each * 3);
    memory.push(await residentMb(gateway.pid));
    const seconds = (performance.now() - startedAt) / 1_000;
    console.log(
      `${came()} answers, ${(came() / seconds).toFixed(0)} a second, ${
        memory.at(-1)!.toFixed(0)
      } MB`,
    );
  }
})();
await Promise.all(channels.map(async ({ came, say }) => {
  for (let at = 0; at < each; at++) {
    await happenings.until(() => came() >= at - WINDOW);
    // Chats come and go: what is measured is not the length of a conversation.
    const chat = `c${at % CHATS}.${Math.floor(at / CHATS / CHAT_MESSAGES)}`;
    void say({ id: `m${at}`, chat, text: `message ${at}` });
  }
}));
await sampling;

const warm = memory[4]!;
const last = memory.at(-1)!;
const turns = [...(await turnsOf(home)).values()].reduce((sum, count) => sum + count);
const statuses = await channelStatuses(home);
const unsure = [...statuses.values()].reduce(
  (sum, { restarts, deliveries: { unknown, dead, waiting } }) =>
    sum + restarts + unknown + dead + waiting,
  0,
);
console.log(
  `${turns} turns of ${each * 3} messages; ${warm.toFixed(0)} MB after a quarter, ` +
    `${Math.max(...memory).toFixed(0)} MB at most, ${last.toFixed(0)} MB at the end ` +
    `(${(last / warm).toFixed(2)} x)`,
);
const failed = turns !== each * 3 || came() !== each * 3 || unsure > 0 || last > warm * MAX_GROWTH;
console.log(failed ? "FAILED" : "passed");
Deno.exitCode = failed ? 1 : 0;
