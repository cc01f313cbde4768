/** Approvals over channels: by listed senders of those that vouch for who writes, and by nobody else. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { said } from "../support/said.ts";
import { happeningsOf, talkSection, testProject, textsOf } from "../support/talk_channels.ts";
import { WebhookSide } from "../support/webhook_side.ts";

/** The command that a person is told to type. */
function commandIn(text: string): string {
  const [command] = text.match(/\/approve \S+ [0-9a-f]{8}/) ?? [];
  assert(command !== undefined, text);
  return command;
}

Deno.test("an approval is answered by a listed sender that the channel vouches for, and on no other channel", async () => {
  await using project = await testProject();
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

Deno.test("a chat approves nothing that it cannot show whole, and shows the facts of it all the same", async () => {
  await using project = await testProject();
  await using home = await makeHome(undefined, project.root);
  const path = `${home.dir}/written`;
  await using model = startModelServer({
    script(request) {
      const last = request.body.messages.at(-1);
      if (last.role === "tool") return { text: `tool said: ${last.content}` };
      const size = Number(said(request).split(" ").at(-1));
      const content = `BEGIN\n${"harmless words\n".repeat(size)}rm -rf ~\nEND`;
      return { calls: [{ tool: "write_file", args: { path, content } }] };
    },
  });
  await using vouched = new LinePlatform();
  await home.configure({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    gates: { approvers: ["vouched:ann"] },
    channels: { vouched: talkSection(vouched) },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  const news = happeningsOf(vouched);
  let last = 0;
  const say = (text: string) => vouched.say({ id: `m${++last}`, chat: "c", text });
  const nextOf = async (before: number): Promise<string> => {
    await news.until(() => textsOf(vouched, "c").length > before);
    return textsOf(vouched, "c")[before]!;
  };
  const isWritten = () => Deno.stat(path).then(() => true, () => false);

  say("write 500");
  const shown = await nextOf(0);
  for (const fact of [path, "access: write", "BEGIN", "rm -rf ~", "END", "not shown"]) {
    assertStringIncludes(shown, fact);
  }
  assert(shown.length < 4_500, `${shown.length}`);
  assert(!shown.includes("/approve"), shown);
  const [, id] = /service approvals approve (apr_\w+)/.exec(shown)!;
  const { stdout: token } = await home.run(["tokens", "issue", "--scopes", "approve", "--json"]);
  const run = (args: string[]) =>
    home.run(["approvals", ...args], { env: { SERVICE_APPROVER_TOKEN: JSON.parse(token).token } });
  // All of it is there where it says, with the digest that a chat would take.
  const { stdout: whole } = await run(["show", id!]);
  assertEquals(whole.split("harmless words").length, 501);
  const digest = /digest:\s+([0-9a-f]{8})/.exec(whole)![1]!;
  for (const command of [`/approve ${id} ${digest}`, `/APPROVE ${id}  ${digest}`]) {
    const before = textsOf(vouched, "c").length;
    say(command);
    assertStringIncludes(await nextOf(before), `service approvals approve ${id}`);
  }
  assertEquals(await isWritten(), false);
  assertEquals((await run(["approve", id!, "--digest", digest])).code, 0);
  await news.until(() => textsOf(vouched, "c").some((text) => text.startsWith("tool said:")));
  assertEquals(await isWritten(), true);

  // Nobody has to see all of what they refuse.
  await Deno.remove(path);
  let before = textsOf(vouched, "c").length;
  say("write 400");
  const [, other] = /\/deny (apr_\w+)/.exec(await nextOf(before))!;
  before = textsOf(vouched, "c").length;
  say(`/deny ${other}`);
  assertStringIncludes(await nextOf(before), "Denied");
  assertEquals(await isWritten(), false);
  assertEquals(await gateway.stop(), 0, gateway.log());
});
