/**
 * Files that the agent sends: from the workspace of a real gateway to WebSocket clients by signed links,
 * and to a package's channel as files that it may read.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Behaviour, startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { WebhookSide } from "../support/webhook_side.ts";
import { httpOf, WireSocket } from "../support/wire_socket.ts";

const REPORT = "all is well\n";

function sends(args: Record<string, unknown>): Behaviour {
  return { calls: [{ tool: "message", args }] };
}

async function homeWith(baseUrl: string, channels: Record<string, unknown>) {
  const home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl } },
    gates: { messageTargets: ["websocket:ops", "webhook:room"] },
    channels,
  });
  const workspace = `${home.dir}/home/workspace`;
  await Deno.mkdir(workspace, { recursive: true });
  await Deno.writeTextFile(`${workspace}/report.txt`, REPORT);
  return home;
}

for (const streaming of [true, false]) {
  Deno.test(`files of an answer reach its chat by signed links, ${streaming ? "with" : "without"} streaming`, async () => {
    await using model = startModelServer({
      script: [sends({ files: ["report.txt"] }), { text: ["Here ", "it is."] }],
    });
    await using home = await homeWith(model.baseUrl, { websocket: { streaming } });
    await using gateway = await home.start(["gateway", "--json"]);
    using client = await WireSocket.open(gateway.wsUrl);
    const content = "Send me the report";
    client.send({ type: "message", chat_id: client.chatId, content, client_msg_id: "m-1" });
    assertEquals((await client.next("turn_end")).status, "done", gateway.log());
    const messages = client.frames.filter((frame) => frame.event === "message");
    assertEquals(messages.map(({ text, reply_to, media }) => [text, reply_to, media?.length]), [
      [streaming ? "" : "Here it is.", "m-1", 1],
    ]);
    const [{ media, media_urls }] = messages as [typeof messages[number]];
    assertEquals(await Deno.readTextFile(media![0]!), REPORT);
    const response = await fetch(new URL(media_urls![0]!, httpOf(gateway.wsUrl)));
    assertStringIncludes(response.headers.get("content-disposition")!, `filename="report.txt"`);
    assertEquals(await response.text(), REPORT);
    // Also after a restart, with a link of the new process.
    await gateway.stop();
    await using again = await home.start(["gateway", "--json"]);
    using later = await WireSocket.open(again.wsUrl);
    later.send({ type: "attach", chat_id: client.chatId, after_seq: 0 });
    const replayed = await later.next("message");
    const link = new URL(replayed.media_urls![0]!, httpOf(again.wsUrl));
    assertEquals(await (await fetch(link)).text(), REPORT);
  });
}

Deno.test("files go to a chat of this service and to a package's channel, as what they were when they were sent", async () => {
  await using side = await WebhookSide.open();
  await using model = startModelServer({
    script: [
      sends({ files: ["report.txt"], channel: "websocket", chat_id: "ops", content: "For ops" }),
      sends({ files: ["report.txt"], channel: "webhook", chat_id: "room" }),
      { text: "Sent." },
      sends({ files: ["report.txt"] }),
      { text: "Here." },
    ],
  });
  await using home = await homeWith(model.baseUrl, { webhook: side.section });
  await using gateway = await home.start(["gateway", "--json"]);
  using ops = await WireSocket.open(gateway.wsUrl);
  ops.send({ type: "attach", chat_id: "ops" });
  await ops.next("attached");
  using client = await WireSocket.open(gateway.wsUrl);
  client.send({ type: "message", chat_id: client.chatId, content: "Tell them" });
  assertEquals((await client.next("turn_end")).status, "done", gateway.log());
  await Deno.writeTextFile(`${home.dir}/home/workspace/report.txt`, "another one");
  const said = await ops.next("message");
  assertEquals([said.text, said.media_urls?.length], ["For ops", 1]);
  const link = new URL(said.media_urls![0]!, httpOf(gateway.wsUrl));
  assertEquals(await (await fetch(link)).text(), REPORT);

  await side.connected();
  await side.happenings.until(() => side.events.some(({ type }) => type === "message"));
  const filesOf = () =>
    side.events.filter(({ type }) => type === "message").map((event) => {
      const { media } = event as unknown as { media: { name: string; data_url: string }[] };
      return [
        event.chat_id,
        event.text,
        ...media.map(({ name, data_url: url }) => [name, atob(url.slice(url.indexOf(",") + 1))]),
      ];
    });
  assertEquals(filesOf(), [["room", "", ["report.txt", REPORT]]]);

  // The answer to a message of the channel.
  await Deno.writeTextFile(`${home.dir}/home/workspace/report.txt`, REPORT);
  await side.say({ id: "w-1", chat: "hall", text: "And to me" });
  await side.happenings.until(() => side.texts("hall").includes("Here."));
  assertEquals(filesOf().slice(1), [
    ["hall", "", ["report.txt", REPORT]],
    ["hall", "Here."],
  ]);
  // Nothing is left where the channel read it.
  const left = Array.from(Deno.readDirSync(`${home.dir}/home/data/channels/webhook/outgoing`));
  assertEquals(left, []);
});

Deno.test("an automation delivers its files with its answer, by grants alone", async () => {
  const calls = sends({ files: ["report.txt"] });
  await using model = startModelServer({
    script: [calls, { text: "No report" }, calls, { text: "The report" }],
  });
  await using home = await homeWith(model.baseUrl, {});
  const { stdout: token } = await home.run([
    "tokens",
    "issue",
    "--scopes",
    "operate",
    "--name",
    "t",
  ]);
  await using gateway = await home.start(["gateway", "--json"]);
  const created = await home.run(
    ["automations", "create", "-m", "go", "--every", "1d", "--deliver", "websocket:daily"],
  );
  const id = created.stdout.trim();
  using client = await WireSocket.open(gateway.wsUrl);
  client.send({ type: "attach", chat_id: "daily" });
  await client.next("attached");
  await home.run(["automations", "run", id]);
  const without = await client.next("message");
  assertEquals([without.text, without.media], ["No report", undefined]);
  const env = { SERVICE_APPROVER_TOKEN: token.trim() };
  const grants = [
    ["message.send", "websocket:daily"],
    ["fs.read", await Deno.realPath(`${home.dir}/home/workspace/report.txt`)],
  ];
  for (const grant of grants) {
    const { code, stderr } = await home.run(["grants", "add", `automation:${id}`, ...grant], {
      env,
    });
    assertEquals(code, 0, stderr);
  }
  await home.run(["automations", "run", id]);
  const delivered = await client.next("message", ({ text }) => text !== "No report");
  assertEquals([delivered.text, delivered.media_urls?.length], ["The report", 1]);
  assert(delivered.media!.every((path) => path.startsWith(`${home.dir}/home/`)));
  const link = new URL(delivered.media_urls![0]!, httpOf(gateway.wsUrl));
  assertEquals(await (await fetch(link)).text(), REPORT);
});
