import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";

Deno.test("G1 G2 G3 an unattended turn does what was granted, and nothing near it", async () => {
  let asked: { tool: string; args: unknown };
  await using model = startModelServer({
    script: (request) =>
      request.body.messages.at(-1).role === "tool" ? { text: "ok" } : { calls: [asked] },
  });
  const reached: string[] = [];
  const site = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    reached.push(pathname + search);
    return pathname === "/moved"
      ? new Response(null, { status: 302, headers: { location: "/elsewhere" } })
      : new Response("reached");
  });
  const base = `http://localhost:${site.addr.port}`;
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { attended: false },
    gates: { privateHosts: ["localhost"] },
  });
  const workspace = `${home.dir}/home/workspace`;
  await Deno.mkdir(workspace, { recursive: true });
  await Deno.writeTextFile(`${workspace}/report.txt`, "the report");
  await Deno.writeTextFile(`${workspace}/other.txt`, "the other");
  await Deno.writeTextFile(`${workspace}/.env`, "TOKEN=hidden");
  const grant = async (capability: string, target: string) => {
    const { code, stderr } = await home.run(["grants", "add", "api:s", capability, target]);
    assertEquals(code, 0, stderr);
  };
  await grant("fs.read", `${workspace}/report.txt`);
  await grant("fs.read", `${workspace}/.env`);
  await grant("fs.read", `${home.dir}/home/config.json`);
  await grant("net.fetch", `${base}/feed?x=1`);
  await grant("net.fetch", `${base}/moved`);

  await using service = await home.start();
  const act = async (tool: string, args: unknown, session = "s") => {
    asked = { tool, args };
    const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: `read ${base}/` }],
        session_id: session,
      }),
    });
    assertEquals(response.status, 200, await response.clone().text());
    await response.body?.cancel();
    const messages: { role: string; content: string }[] = model.requests.at(-1)!.body.messages;
    return messages.findLast(({ role }) => role === "tool")!.content;
  };

  assertEquals(await act("read_file", { path: "report.txt" }), "the report");
  assertEquals(await act("read_file", { path: "./x/../report.txt" }), "the report");
  assertStringIncludes(await act("web_fetch", { url: `${base}/feed?x=1#part` }), "reached");

  const refused: [string, unknown, string?][] = [
    ["read_file", { path: "report.txt" }, "t"],
    ["read_file", { path: "report.txt" }, "S"],
    ["read_file", { path: "report.tx" }],
    ["read_file", { path: "report.txt2" }],
    ["read_file", { path: "other.txt" }],
    ["write_file", { path: "report.txt", content: "x" }],
    // What no grant allows, granted or not.
    ["read_file", { path: ".env" }],
    ["read_file", { path: "../config.json" }],
    ["web_fetch", { url: `${base}/feed?x=12` }],
    ["web_fetch", { url: `${base}/feed?x=` }],
    ["web_fetch", { url: `${base}/feed?x=1&y=2` }],
    ["web_fetch", { url: `${base}/` }],
    ["web_fetch", { url: `${base}/feed?x=1`.replace("localhost", "127.0.0.1") }],
    ["exec", { command: "true" }],
    ["message", { content: "x", channel: "telegram", chat_id: "1" }],
  ];
  for (const [tool, args, session] of refused) {
    const said = await act(tool, args, session);
    assertStringIncludes(said, "Refused", `${tool} ${JSON.stringify(args)}`);
  }
  // Where a redirect leads is an action of its own.
  assertStringIncludes(await act("web_fetch", { url: `${base}/moved` }), "Refused");
  assertEquals(reached, ["/feed?x=1", "/moved"]);

  // The granted name leads elsewhere now.
  await Deno.remove(`${workspace}/report.txt`);
  await Deno.symlink("other.txt", `${workspace}/report.txt`);
  const elsewhere = await act("read_file", { path: "report.txt" });
  assertStringIncludes(elsewhere, "Refused");
  assert(!elsewhere.includes("the other"));
  // A hard link is the same file under another name, maybe somebody's.
  await Deno.remove(`${workspace}/report.txt`);
  await Deno.writeTextFile(`${workspace}/report.txt`, "the report");
  assertEquals(await act("read_file", { path: "report.txt" }), "the report");

  const [first] = (await home.run(["grants", "list", "--json"])).stdout.trim().split("\n");
  assertEquals((await home.run(["grants", "rm", JSON.parse(first!).id])).code, 0);
  assertStringIncludes(await act("read_file", { path: "report.txt" }), "Refused");
  assertEquals(await service.stop(), 0);
  await site.shutdown();
});
