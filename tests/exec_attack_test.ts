import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type RecordedRequest, startModelServer } from "./fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "./support/home.ts";
import { type Need, needs } from "./support/needs.ts";

const CONFIG_KEY = "sk-in-the-configuration-1234";
const ENV_KEY = "sk-in-the-environment-5678";

/** What commands of a model said, one turn each call, in a service that holds keys. */
interface World {
  home: TestHome;
  service: Running;
  /** Runs a command as a model asked for it and gives what the model was told. */
  exec(command: string | string[], tool?: string): Promise<string>;
  call(tool: string, args: unknown): Promise<string>;
}

function testSandboxed(
  name: string,
  test: (world: World) => Promise<void>,
  { alsoNeeds = [], ...config }: Record<string, unknown> & { alsoNeeds?: Need[] } = {},
): void {
  Deno.test({
    ...needs(name, "bubblewrap", ...alsoNeeds),
    async fn() {
      const asked: { tool: string; args: unknown }[] = [];
      await using model = startModelServer({
        script: (request) => {
          const last = request.body.messages.at(-1);
          const next = last.role === "tool" ? undefined : asked.at(-1);
          return next === undefined ? { text: "ok" } : { calls: [next] };
        },
      });
      await using home = await makeHome({
        agent: { model: "local/fake" },
        providers: { local: { baseUrl: model.baseUrl, apiKey: CONFIG_KEY } },
        ...config,
      });
      await using service = await home.start(undefined, { env: { OPENAI_API_KEY: ENV_KEY } });
      let session = 0;
      const call = async (tool: string, args: unknown) => {
        asked.push({ tool, args });
        const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            messages: [{ role: "user", content: "go on" }],
            session_id: `s${++session}`,
          }),
        });
        assertEquals(response.status, 200, await response.clone().text());
        await response.body?.cancel();
        const request: RecordedRequest = model.requests.at(-1)!;
        const messages: { role: string; content: string }[] = request.body.messages;
        return messages.findLast(({ role }) => role === "tool")!.content;
      };
      await test({ home, service, call, exec: (command) => call("exec", { command }) });
    },
  });
}

testSandboxed(
  "G17 no key of a provider is reachable from a command, also through /proc",
  async ({ home, service, exec }) => {
    const { pid } = service;
    // It is there for whoever looks from outside.
    assertStringIncludes(await Deno.readTextFile(`/proc/${pid}/environ`), ENV_KEY);
    const commands = [
      "env; set; export -p",
      "cat /proc/self/environ /proc/1/environ /proc/*/environ | tr '\\0' '\\n'",
      "cat /proc/*/cmdline /proc/*/task/*/environ 2>&1 | tr '\\0' '\\n'",
      `ls /proc/${pid}; cat /proc/${pid}/environ /proc/${pid}/root${home.dir}/home/config.json`,
      "for d in /proc/[0-9]*; do timeout 1 cat $d/root/proc/*/environ $d/mem; done 2>&1 | head -c 100000",
      `cat ${home.dir}/home/config.json ${home.dir}/home/config.json.last-good`,
      "cat ../config.json ../*.json ../keys/* ../operator/* ../data/* ../audit/*",
      `ls -la ${home.dir} ${home.dir}/home /root /home /run /var`,
      "find / -xdev -type f \\( -name 'config.json*' -o -name '*.key' -o -name 'service.db*' \\) 2>/dev/null | head",
      "ls /dev /dev/fd /proc/self/fd; cat /dev/mem /dev/kmem /proc/kcore | head -c 100",
      "cat /proc/self/mountinfo /proc/self/status",
    ];
    for (const command of commands) {
      const said = await exec(command);
      for (const key of [CONFIG_KEY, ENV_KEY, "[secret "]) {
        assert(
          !said.includes(key),
          `${command}: ${said}`,
        );
      }
    }
    const found = await exec(
      "find / -xdev -name '*.json' -path '*home*' 2>/dev/null; ls /proc | grep -c '^[0-9]'",
    );
    assert(!found.includes("config.json"), found);
  },
);

testSandboxed(
  "G18 a secret that a command or a file prints is stored and shown with a named placeholder",
  async ({ home, service, call, exec }) => {
    const workspace = `${home.dir}/home/workspace`;
    await Deno.writeTextFile(`${workspace}/notes.txt`, `the key is ${CONFIG_KEY}, do not tell`);
    const said = [
      await exec("cat notes.txt; printf 'sk-in-the-%s' configuration-1234"),
      await call("read_file", { path: "notes.txt" }),
      await call("search_files", { pattern: "the key" }),
    ];
    for (const text of said) {
      assertStringIncludes(text, "[secret providers.local.apiKey]");
      assert(!text.includes(CONFIG_KEY), text);
    }
    assertEquals(await service.stop(), 0);
    for await (const { name, isFile } of Deno.readDir(`${home.dir}/home/data`)) {
      if (!isFile) continue;
      const bytes = await Deno.readTextFile(`${home.dir}/home/data/${name}`).catch(() => "");
      assert(!bytes.includes(CONFIG_KEY), name);
    }
    const audit = await Deno.readTextFile(`${home.dir}/home/audit/audit.jsonl`);
    assert(!audit.includes(CONFIG_KEY) && !service.log().includes(CONFIG_KEY));
  },
);

testSandboxed(
  "a command reaches no network and not the service itself",
  async ({ service, exec }) => {
    let reached = 0;
    await using server = Deno.serve({ hostname: "0.0.0.0", port: 0, onListen() {} }, () => {
      reached++;
      return new Response("reached");
    });
    const port = new URL(service.apiUrl).port;
    for (
      const host of ["127.0.0.1", "localhost", "::1", "169.254.169.254", "10.0.0.1", "1.1.1.1"]
    ) {
      for (const to of [server.addr.port, port]) {
        const said = await exec([
          "bash",
          "-c",
          `(exec 3<>/dev/tcp/${host}/${to}) && echo CONNECTED`,
        ]);
        assert(!said.includes("CONNECTED"), said);
      }
    }
    assertEquals(reached, 0);
  },
  { alsoNeeds: ["bash"] },
);

testSandboxed(
  "a command reaches no socket of this machine",
  async ({ home, exec }) => {
    const path = `${home.dir}/home/workspace/out.sock`;
    using socket = Deno.listen({ transport: "unix", path });
    let reached = 0;
    (async () => {
      for await (const connection of socket) {
        reached++;
        connection.close();
      }
    })().catch(() => {});
    const said = await exec([
      "python3",
      "-c",
      `import socket
for path in ${
        JSON.stringify([path, `${home.dir}/home/run/service.sock`, "/run/dbus/system_bus_socket"])
      }:
  try:
    s = socket.socket(socket.AF_UNIX); s.connect(path); print("CONNECTED", path)
  except Exception as error: print("REFUSED", error)
`,
    ]);
    assertEquals([said.includes("CONNECTED"), said.split("REFUSED").length], [false, 4], said);
    assertEquals(reached, 0);
  },
  { alsoNeeds: ["python3"] },
);

testSandboxed(
  "what a command leaves in the workspace leads no tool out of it",
  async ({ home, call, exec }) => {
    await Deno.writeTextFile(`${home.dir}/secret.txt`, "the secret outside");
    const made = await exec(
      `ln -s ${home.dir}/secret.txt link; ln -s ${home.dir} folder; ln -s /proc/self/environ env;
     ln -s ../config.json config; mkfifo pipe; ln /etc/passwd hard; mknod null c 1 3; ls`,
    );
    assertStringIncludes(made, "link");
    for (const path of ["link", "folder/secret.txt", "env", "config", "pipe"]) {
      const read = await call("read_file", { path });
      assertStringIncludes(read, "Refused", path);
      const write = await call("write_file", { path, content: "x" });
      assertStringIncludes(write, "Refused", path);
    }
    assertStringIncludes(await call("list_files", { path: "folder" }), "Refused");
    assert(
      !(await call("search_files", { pattern: "secret outside" })).includes("the secret outside"),
    );
    assertEquals(await Deno.readTextFile(`${home.dir}/secret.txt`), "the secret outside");
  },
);

testSandboxed(
  "a command writes nowhere but in the workspace, and nothing that git or the agent obeys",
  async ({ home, exec }) => {
    const workspace = `${home.dir}/home/workspace`;
    await Deno.mkdir(`${workspace}/repo/.git/hooks`, { recursive: true });
    await Deno.writeTextFile(`${workspace}/repo/.git/HEAD`, "ref: refs/heads/main\n");
    await Deno.writeTextFile(`${workspace}/repo/.git/config`, "[core]\n");
    await Deno.writeTextFile(`${workspace}/AGENTS.md`, "be kind");
    await Deno.writeTextFile(`${workspace}/.env`, "TOKEN=in-the-env-file");
    const said = await exec(`
    for f in AGENTS.md .envrc repo/.git/config repo/.git/hooks/pre-commit repo/.git/hooks/new \\
      /etc/x /usr/bin/x /x /dev/x; do (echo OBEY >> $f) 2>/dev/null && echo wrote $f; done
    for f in ../x ../config.json ${home.dir}/x; do echo OBEY >> $f; done 2>/dev/null
    mv AGENTS.md gone; rm -f AGENTS.md; mv repo/.git repo/old; mv repo other
    mkdir -p repo/.git/hooks; (echo OBEY > repo/.git/hooks/post-commit) 2>/dev/null
    ln -sf /tmp/x AGENTS.md; cp .env copy; cat .env copy; ln .env second; cat second; exit 0`);
    assert(!said.includes("in-the-env-file"), said);
    assert(!said.includes("wrote"), said);
    assertEquals(await Deno.readTextFile(`${workspace}/AGENTS.md`), "be kind");
    assertEquals(await Deno.readTextFile(`${workspace}/.env`), "TOKEN=in-the-env-file");
    assertEquals(await Deno.readTextFile(`${workspace}/repo/.git/config`), "[core]\n");
    assertEquals([...Deno.readDirSync(`${workspace}/repo/.git/hooks`)], []);
    for (const path of [`${home.dir}/x`, `${home.dir}/home/x`]) {
      assertEquals(await Deno.stat(path).catch(() => undefined), undefined);
    }
    assert(!(await Deno.readTextFile(`${home.dir}/home/config.json`)).includes("OBEY"));
  },
);
