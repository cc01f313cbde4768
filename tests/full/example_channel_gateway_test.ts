import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { LineServer } from "../../docs/examples/channel/line/line_server.ts";
import { makeHome } from "../support/home.ts";
import { copyProject, copyTree } from "../support/project_copy.ts";

const EXAMPLE = new URL("../../docs/examples/channel/line/", import.meta.url);

Deno.test("the example becomes a channel of the service by its folder alone, and talks", async () => {
  await using project = await copyProject();
  await copyTree(EXAMPLE.pathname, `${project.root}channels/line`);
  await project.deno("run", "-A", "--cached-only", "--no-check", "channels/generate_mod.ts");
  await project.deno("run", "-A", "--cached-only", "--no-check", "channels/generate_docs.ts");
  const page = await Deno.readTextFile(`${project.root}docs/channels.md`);
  assertStringIncludes(page, "| Line ");

  const server = new LineServer();
  const section = { ...server.section, allowFrom: ["alice"] };
  await using home = await makeHome({ channels: { line: section } }, project.root);
  await using gateway = await home.start(["gateway", "--json"]);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(args);
    assertEquals(code, 0, stderr);
    return stdout;
  };
  assertStringIncludes(await run("plugins", "info", "line"), "Reaches: {host}:{port}");
  await run("plugins", "enable", "line");
  await server.deliver({ senderId: "bob", from: "person", text: "I am not listed" });
  const asked = await server.deliver({ senderId: "alice", from: "person", text: "hi there" });
  await until(() => server.sent().length > 0, gateway.log);
  const [answer, ...more] = server.sent();
  assertEquals(answer!.chatId, "lobby");
  assertStringIncludes(answer!.text, "offline");
  assertEquals(more, []);
  const times = () => server.acknowledged().filter((id) => id === asked).length;
  await until(() => times() === 1, gateway.log);
  // The platform gives it again: no second turn, and what is sent next is the next answer.
  await server.redeliver();
  await server.deliver({ senderId: "alice", from: "person", text: "again" });
  await until(() => server.sent().length > 1, gateway.log);
  await until(() => times() === 2, gateway.log);
  assertStringIncludes(await run("channels", "status", "line"), "connected to 127.0.0.1:");
  await run("channels", "send", "line", "lobby", "Does **this** arrive?");
  assertEquals(server.sent()[2], { chatId: "lobby", text: "Does **this** arrive?" });
  await run("plugins", "disable", "line");
  await until(() => !server.isConnected, gateway.log);
  assertEquals(await gateway.stop(), 0);
  assertEquals(server.sent().length, 3);
  assert(!gateway.log().includes(String(server.section.password)));
  await server.close();
});

/** Waits for what the gateway does, and says what that logged where it takes a minute. */
async function until(holds: () => boolean, log: () => string): Promise<void> {
  const giveUpAt = Date.now() + 60_000;
  while (!holds()) {
    assert(Date.now() < giveUpAt, `${holds} does not come true: ${log()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
