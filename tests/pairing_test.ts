/** Strangers of a chat are let in by a code, and until then nothing of theirs is kept. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTelegram } from "../channels/telegram/testing/fake_telegram.ts";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { httpOf } from "./support/wire_socket.ts";

/** How long is waited for anything, milliseconds. */
const PATIENCE_MS = 60_000;

Deno.test("strangers of Telegram are given a code, and answered once an operator has paired them", async () => {
  const telegram = await FakeTelegram.open();
  await using model = startModelServer({ script: { text: ["Hello Ann."] } });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: {
      websocket: { enabled: true, port: 0 },
      telegram: { enabled: true, pairing: "on", ...telegram.section },
    },
  });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run([...args, "--json"]);
    assertEquals(code, 0, stderr);
    return stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  };
  const [{ token }] = await run("tokens", "issue", "--scopes", "operate");
  await using gateway = await home.start(["gateway", "--json"]);
  const ask = async (method: string, path: string) => {
    const response = await fetch(new URL(path, httpOf(gateway.wsUrl)), {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...method === "POST" && { body: "{}" },
    });
    return { status: response.status, text: await response.text() };
  };
  const pairings = async () => JSON.parse((await ask("GET", "/api/webui/pairings")).text).pairings;
  const sentTo = (chat: string) =>
    telegram.sent().filter(({ chatId }) => chatId === chat).map(({ text }) => text);
  const until = async (holds: () => boolean, what: string) => {
    for (const end = performance.now() + PATIENCE_MS; !holds();) {
      assert(performance.now() < end, `${what}\n${gateway.log()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const codeOf = async (chat: string) => {
    await until(() => sentTo(chat).length > 0, "no code came");
    const [, code] = /Your code is ([a-z2-9]{8})\./.exec(sentTo(chat)[0]!) ?? [];
    assert(code !== undefined, sentTo(chat)[0]);
    return code;
  };

  telegram.say("my secret words");
  const code = await codeOf("1001");
  // Nobody is told twice within an hour.
  telegram.say("and some more");
  const [waiting, ...others] = await pairings();
  assertEquals([waiting.code, waiting.runtime_name, waiting.sender_id, others], [
    code,
    "telegram",
    "1001",
    [],
  ]);
  assertEquals(await run("channels", "pairings"), [waiting]);
  assertEquals((await ask("POST", "/api/webui/pairings/aaaaaaaa")).status, 404);

  // By the command, however the code is typed. The channel starts anew, and hears what comes.
  const typed = `${code.slice(0, 4)}-${code.slice(4)}`.toUpperCase();
  const [paired] = await run("channels", "pair", typed);
  assertEquals([paired.sender_id, await pairings()], ["1001", []]);
  const isWelcome = (chat: string) => sentTo(chat).includes("You may write to me now.");
  await until(() => isWelcome("1001"), "nobody said that the stranger may write");
  telegram.say("hello");
  await until(() => sentTo("1001").includes("Hello Ann."), "no answer came");
  assertEquals(sentTo("1001").length, 3);
  // By the route.
  telegram.say("my own secret words", { senderId: "1002" });
  const { status, text } = await ask("POST", `/api/webui/pairings/${await codeOf("1002")}`);
  assertEquals([status, JSON.parse(text).sender_id], [200, "1002"]);
  await until(() => isWelcome("1002"), "nobody said that the stranger may write");
  telegram.say("hello", { senderId: "1002" });
  await until(() => sentTo("1002").includes("Hello Ann."), "no answer came");

  const config = JSON.parse(await Deno.readTextFile(`${home.dir}/home/config.json`));
  assertEquals(config.channels.telegram.allowFrom, ["1001", "1002"]);
  const exported = await ask("GET", "/api/webui/sessions/telegram:1001/export");
  assertStringIncludes(exported.text, "hello");
  assert(!/secret words|some more/.test(exported.text), exported.text);
  const records = await ask("GET", "/api/webui/audit?kind=settings.change");
  assertEquals(records.text.match(/channels\.telegram\.allowFrom/g)?.length, 2);
  await telegram.close();
});
