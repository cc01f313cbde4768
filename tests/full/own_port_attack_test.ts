import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { transcript, WireSocket } from "../support/wire_socket.ts";

/** Everything that leads to this machine, listed as if somebody wanted the agent to reach all of it. */
const LISTED = ["127.0.0.1", "localhost", "::1", "0.0.0.0", "127.8.9.10", "::ffff:127.0.0.1"];

/** Runs tools one after the other in a chat; resolves with all that it says. */
async function runTools(socket: WireSocket, calls: [tool: string, args: unknown][]) {
  for (const [tool, args] of calls) {
    const from = socket.frames.length;
    socket.send(`/tool ${tool} ${JSON.stringify(args)}`);
    await socket.next("turn_end", undefined, from);
  }
  return transcript(socket.frames, socket.chatId).texts;
}

Deno.test("web_fetch gets no token from the service's own port, in no spelling, though every private host is listed", async () => {
  await using home = await makeHome({ gates: { privateHosts: LISTED } });
  await using gateway = await home.start(["gateway", "--json"]);
  const { port } = new URL(gateway.wsUrl);
  using socket = await WireSocket.open(gateway.wsUrl);
  const hosts = [
    "127.0.0.1",
    "localhost",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0.0.0.0",
    "127.8.9.10",
    "[::ffff:127.0.0.1]",
  ];
  const answers = await runTools(
    socket,
    hosts.map((host) => ["web_fetch", { url: `http://${host}:${port}/webui/bootstrap` }]),
  );
  const refused = answers.filter((text) => text.includes("(rule own:"));
  assertEquals(refused.length, hosts.length, answers.join("\n"));
  assert(!/s[wa]t_[A-Za-z0-9_-]{43}/.test(answers.join("\n")));
});

Deno.test({
  ...needs(
    "a sandboxed command with every host allowed gets no token from the service's own port",
    "bubblewrap",
  ),
  async fn() {
    const port = freePort();
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    await using home = await makeHome({
      gates: { privateHosts: LISTED },
      executor: { hosts },
      channels: { websocket: { port } },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    assertEquals(new URL(gateway.wsUrl).port, String(port));
    using socket = await WireSocket.open(gateway.wsUrl);
    const command = `exec 2>&1; unset no_proxy NO_PROXY
      curl -sS -m 5 --noproxy '*' http://127.0.0.1:${port}/webui/bootstrap; echo
      ${hosts.map((host) => `curl -sS -m 5 -p http://${host}/webui/bootstrap; echo`).join("\n")}
      ls ${home.dir}/home/run/service.sock`;
    assert((await Deno.stat(`${home.dir}/home/run/service.sock`)).isSocket);
    const said = (await runTools(socket, [["exec", { command, hosts }]])).join("\n");
    assert(!/s[wa]t_[A-Za-z0-9_-]{43}/.test(said), said);
    assertStringIncludes(said, "Couldn't connect to server");
    assertStringIncludes(said, "No such file");
    const audit = await Deno.readTextFile(`${home.dir}/home/audit/audit.jsonl`);
    assertEquals(audit.match(/"rule":"network.own"/g)?.length, hosts.length, said);
  },
});
