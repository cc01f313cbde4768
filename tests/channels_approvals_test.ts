/** Approvals over channels: by listed senders of those that vouch for who writes, and by nobody else (E4). */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { LinePlatform } from "../lib/channel/manager/testing/line_platform.ts";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { said } from "./support/said.ts";
import { happeningsOf, talkProject, talkSection, textsOf } from "./support/talk_channels.ts";
import { WebhookSide } from "./support/webhook_side.ts";

/** The command that a person is told to type. */
function commandIn(text: string): string {
  const [command] = text.match(/\/approve \S+ [0-9a-f]{8}/) ?? [];
  assert(command !== undefined, text);
  return command;
}

Deno.test("an approval is answered by a listed sender that the channel vouches for, and on no other channel", async () => {
  await using project = await talkProject([
    { name: "vouched", senderVerified: true },
    { name: "unlisted", senderVerified: true },
    { name: "talk" },
  ]);
  await using home = await makeHome(undefined, project.root);
  await using model = startModelServer({
    script(request) {
      const last = request.body.messages.at(-1);
      if (last.role === "tool") return { text: `tool said: ${last.content}` };
      const content = said(request).split(" ").at(-1)!;
      return { calls: [{ tool: "write_file", args: { path: `${home.dir}/${content}`, content } }] };
    },
  });
  await using side = await WebhookSide.open();
  await using vouched = new LinePlatform();
  await using unlisted = new LinePlatform();
  await using talk = new LinePlatform();
  await home.configure({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    // Listing does not make a channel vouch for anybody.
    gates: { approvers: ["vouched:ann", "talk:ann", "webhook:ann"] },
    channels: {
      webhook: side.section,
      vouched: talkSection(vouched),
      unlisted: talkSection(unlisted),
      talk: talkSection(talk),
    },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  await side.connected();
  /** What has been written of what was asked for. */
  const written = async () => {
    const names = await Array.fromAsync(Deno.readDir(home.dir), ({ name }) => name);
    return names.filter((name) => ["talked", "hooked", "vouched"].includes(name)).sort();
  };
  const news = new Map([vouched, unlisted, talk].map((each) => [each, happeningsOf(each)]));
  let last = 0;
  /** Says it; what comes next in that chat. */
  async function ask(platform: LinePlatform, text: string, chat = "c"): Promise<string> {
    const before = textsOf(platform, chat).length;
    platform.say({ id: `m${++last}`, chat, text });
    await news.get(platform)!.until(() => textsOf(platform, chat).length > before);
    return textsOf(platform, chat)[before]!;
  }
  const eventsOf = () =>
    side.events.filter(({ type }) => type === "message" || type === "approval");
  async function askWebhook(text: string): Promise<string> {
    const before = eventsOf().length;
    await side.say({ id: `m${++last}`, chat: "c", text });
    await side.happenings.until(() => eventsOf().length > before);
    return eventsOf()[before]!.text;
  }

  // Each asks something of its own, and is told the same way how to allow it.
  const onTalk = commandIn(await ask(talk, "write talked"));
  const onWebhook = commandIn(await askWebhook("write hooked"));
  assertEquals(eventsOf().at(-1)!.type, "approval");
  const onVouched = commandIn(await ask(vouched, "write vouched"));
  for (const command of [onTalk, onWebhook, onVouched]) {
    assertStringIncludes(await ask(unlisted, command), "does not list this sender");
    assertStringIncludes(await ask(talk, command), "does not prove who writes");
    assertStringIncludes(await askWebhook(command), "does not prove who writes");
  }
  assertEquals(await written(), []);

  // One digit of another action, and it is none.
  const wrong = onVouched.replace(/.$/, (digit) => digit === "0" ? "1" : "0");
  await ask(vouched, wrong);
  assertEquals(await written(), []);

  const before = textsOf(vouched, "c").length;
  await ask(vouched, onVouched);
  await news.get(vouched)!.until(() =>
    textsOf(vouched, "c").slice(before).some((text) => text.startsWith("tool said:"))
  );
  assertEquals(await written(), ["vouched"]);
  // Once, and whoever clicks again is told so.
  assertStringIncludes(await ask(vouched, onVouched), "was approved before");
  assertEquals(await written(), ["vouched"]);

  // What others wait for is answered in the chat of somebody who is vouched for.
  await ask(vouched, onTalk);
  await news.get(talk)!.until(() =>
    textsOf(talk, "c").some((text) => text.startsWith("tool said:"))
  );
  assertEquals(await written(), ["talked", "vouched"]);
  // Nor is it refused by anybody else.
  const deny = onWebhook.replace("/approve", "/deny").replace(/ \S+$/, "");
  assertStringIncludes(await askWebhook(deny), "does not prove who writes");
  const told = eventsOf().length;
  assertStringIncludes(await ask(vouched, deny), "Denied");
  await side.happenings.until(() => eventsOf().length > told);
  assertStringIncludes(eventsOf()[told]!.text, "tool said: ");
  assertEquals(await written(), ["talked", "vouched"]);
  const { stdout } = await home.run(["sessions", "export", "vouched:c"]);
  assert(!stdout.includes("/approve"), "a command is part of the conversation");
  assertEquals(await gateway.stop(), 0, gateway.log());
});
