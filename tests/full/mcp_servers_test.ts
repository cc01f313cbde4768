import { lookup } from "node:dns/promises";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { npmServer, oddServer } from "../../lib/mcp_servers/testing/server_configs.ts";
import { gateFixture } from "../../lib/authority/testing/gate_fixture.ts";
import { needs } from "../support/needs.ts";

/** This machine's own name, if it leads somewhere. */
const ownName = await lookup(Deno.hostname()).then(() => Deno.hostname(), () => undefined);
const ownHost = { what: "a host name that leads somewhere", isThere: ownName !== undefined };

Deno.test({
  ...needs(
    "a real server over stdio is connected when it is needed, and its tools are called",
    "bubblewrap",
  ),
  async fn() {
    await using gate = await gateFixture({
      mcpServers: { everything: npmServer("everything", ["stdio"], { allow: ["*"] }) },
      maxOutputBytes: 1_000,
    });
    assertEquals(gate.mcp.status()[0]!.state, "idle");
    const tools = await gate.mcp.tools();
    const echo = tools.find(({ tool }) => tool === "echo")!;
    assertEquals([echo.name, echo.server], ["mcp__everything__echo", "everything"]);
    assertEquals(echo.parameters.type, "object");
    const [status] = gate.mcp.status();
    assertEquals([status!.state, status!.transport, status!.restarts], ["connected", "stdio", 0]);
    assertMatch(status!.detail, /^mcp-servers\/everything /);
    assert(status!.resources.length > 0 && status!.prompts.length > 0);
    assert(status!.tools.every(({ allowed }) => allowed));

    const said = await gate.act(echo.name, { message: "héllo" });
    assertEquals([said.status, said.output], ["ok", "Echo: héllo"]);
    const image = await gate.act("mcp__everything__get-tiny-image", {});
    assertMatch(image.output, /\[image: image\/png, \d+ bytes, not shown\]/);
    const wrong = await gate.act("mcp__everything__get-sum", { a: "x" });
    assertEquals(wrong.status, "failed");
    assertStringIncludes(wrong.output, "-32602");

    const heard: string[] = [];
    const long = await gate.act("mcp__everything__trigger-long-running-operation", {
      duration: 1,
      steps: 2,
    }, { onProgress: (text) => heard.push(text) });
    assertEquals(long.status, "ok");
    assertMatch(heard[0]!, /^[12]\/2/);
  },
});

Deno.test({
  ...needs(
    "G17 a server's environment holds what its configuration gives it, and no key of the service",
    "bubblewrap",
  ),
  async fn() {
    Deno.env.set("OPENAI_API_KEY", "sk-not-for-servers");
    try {
      await using gate = await gateFixture({
        mcpServers: {
          everything: npmServer("everything", ["stdio"], {
            env: { OWN: "mine" },
            allow: ["get-env"],
          }),
        },
      });
      await gate.mcp.tools();
      const { output } = await gate.act("mcp__everything__get-env", {});
      const { npm_config_user_agent: _, ...env } = JSON.parse(output);
      assertEquals(Object.keys(env).sort(), [
        "DENO_DIR",
        "HOME",
        "LANG",
        "OWN",
        "PATH",
        "TERM",
        "TMPDIR",
        "USER",
      ]);
      assertEquals(env.OWN, "mine");
    } finally {
      Deno.env.delete("OPENAI_API_KEY");
    }
  },
});

Deno.test({
  ...needs(
    "a file server sees the workspace and the paths that it is given, and nothing of the service",
    "bubblewrap",
  ),
  async fn() {
    const outside = await Deno.realPath(await Deno.makeTempDir());
    const root = await Deno.realPath(await Deno.makeTempDir());
    try {
      await Deno.writeTextFile(`${outside}/given.txt`, "given");
      const workspace = `${root}/home/workspace`;
      const config = npmServer("filesystem", [workspace, outside], { allow: ["*"] });
      await using gate = await gateFixture({
        root,
        mcpServers: { files: { ...config, read: [...config.read as string[], outside] } },
      });
      await Deno.writeTextFile(`${workspace}/note.txt`, "a note");
      await Deno.writeTextFile(`${gate.home}/config.json`, "secret");
      await gate.mcp.tools();
      const read = (path: string) => gate.act("mcp__files__read_text_file", { path });
      assertStringIncludes((await read(`${workspace}/note.txt`)).output, "a note");
      assertStringIncludes((await read(`${outside}/given.txt`)).output, "given");
      for (
        const path of [`${gate.home}/config.json`, "/etc/shadow", `${workspace}/../config.json`]
      ) {
        const { status, output } = await read(path);
        assertEquals([path, status], [path, "failed"]);
        assert(!output.includes("secret"));
      }
      const written = await gate.act("mcp__files__write_file", {
        path: `${workspace}/new.txt`,
        content: "new",
      });
      assertEquals(written.status, "ok");
      assertEquals(await Deno.readTextFile(`${workspace}/new.txt`), "new");
      const refused = await gate.act("mcp__files__write_file", {
        path: `${outside}/given.txt`,
        content: "changed",
      });
      assertEquals(refused.status, "failed");
      assertEquals(await Deno.readTextFile(`${outside}/given.txt`), "given");
    } finally {
      await Deno.remove(root, { recursive: true });
      await Deno.remove(outside, { recursive: true });
    }
  },
});

Deno.test({
  ...needs(
    "a memory server keeps what it is told between two services, in a path that it may write to",
    "bubblewrap",
  ),
  async fn() {
    const store = await Deno.realPath(await Deno.makeTempDir());
    const root = await Deno.realPath(await Deno.makeTempDir());
    const options = {
      root,
      mcpServers: {
        memory: npmServer("memory", [], {
          env: { MEMORY_FILE_PATH: `${store}/memory.jsonl` },
          write: [store],
          allow: ["*"],
        }),
      },
    };
    try {
      {
        await using gate = await gateFixture(options);
        await gate.mcp.tools();
        const made = await gate.act("mcp__memory__create_entities", {
          entities: [{ name: "Ann", entityType: "person", observations: ["likes tea"] }],
        });
        assertEquals(made.status, "ok", made.output);
      }
      await using gate = await gateFixture(options);
      // Known from before: nobody waits, and nothing is started until a tool is called.
      const names = (await gate.mcp.tools()).map(({ tool }) => tool);
      assert(names.includes("read_graph"));
      assertEquals(gate.mcp.status()[0]!.state, "idle");
      const graph = await gate.act("mcp__memory__read_graph", {});
      assertStringIncludes(graph.output, "likes tea");
      assertEquals(graph.output.match(/likes tea/g)!.length, 1, "not said twice");
    } finally {
      await Deno.remove(root, { recursive: true });
      await Deno.remove(store, { recursive: true });
    }
  },
});

Deno.test({
  ...needs(
    "G1 a tool that the configuration does not allow is asked about, and refused when nobody is there",
    "bubblewrap",
  ),
  async fn() {
    await using gate = await gateFixture({
      mcpServers: { everything: npmServer("everything", ["stdio"], { allow: ["echo"] }) },
    });
    await gate.mcp.tools();
    const refused = await gate.act("mcp__everything__get-sum", { a: 1, b: 2 });
    assertEquals(refused.status, "refused");
    assertStringIncludes(refused.output, "mcp.call");
    assertStringIncludes(refused.output, "everything/get-sum#");
    const unattended = { context: { attended: false } };
    const alone = await gate.act("mcp__everything__echo", { message: "x" }, unattended);
    assertEquals(alone.status, "refused");
    const kinds = (await gate.records()).map(({ kind }) => kind);
    assertEquals(kinds.filter((kind) => kind === "action.start"), []);
  },
});

Deno.test({
  ...needs(
    "a server with hosts reaches those, and no other, and each host is on record",
    "bubblewrap",
    ownHost,
  ),
  async fn() {
    const reached: string[] = [];
    await using web = Deno.serve({ hostname: "0.0.0.0", port: 0, onListen() {} }, (request) => {
      reached.push(new URL(request.url).pathname);
      return new Response("from the host");
    });
    const { port } = web.addr as Deno.NetAddr;
    const host = ownName!;
    await using gate = await gateFixture({
      privateHosts: [host],
      mcpServers: {
        odd: oddServer("", { allow: ["*"], hosts: [`${host}:${port}`] }),
        alone: oddServer("", { allow: ["*"] }),
      },
    });
    await gate.mcp.tools();
    const get = (server: string, url: string) => gate.act(`mcp__${server}__get`, { url });
    const states = gate.mcp.status().map(({ state, detail }) => `${state} ${detail}`);
    assertEquals(states, ["connected odd 1", "connected odd 1"]);
    const { output } = await get("odd", `http://${host}:${port}/listed`);
    assertEquals(output, "from the host");
    for (const url of [`http://${host}:${port + 1}/`, "http://other.invalid/"]) {
      assert(!(await get("odd", url)).output.includes("from the host"));
    }
    assertMatch((await get("odd", `http://127.0.0.1:${port}/loopback`)).output, /^failed/);
    assertMatch((await get("alone", `http://${host}:${port}/unlisted`)).output, /^failed/);
    assertEquals(reached, ["/listed"]);
    const hosts = (await gate.records()).filter(({ kind }) => kind === "network.host");
    const listed = hosts.find(({ data }) => data.effect === "allow")!.data;
    assertEquals([listed.user, listed.host], ["mcp:odd", host.toLowerCase()]);
  },
});
