import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ATTEMPTS } from "../../channel_worker/testing/attempts.ts";
import type { BuiltChannel } from "../../channel/channel_link.ts";
import { channelProcesses } from "../../../tests/support/channel_processes.ts";
import { needs } from "../../../tests/support/needs.ts";
import { order, told, WorkerFixture } from "./testing/worker_fixture.ts";

/** What its permissions name; everything else is refused. */
const ALLOWED = ["write_own", "read_own", "connect_own", "fetch_own", "env_own"];

/** Asks about permissions, and needs none. */
const HARMLESS = ["query"];

/** Attempts that are refused by a trap and not by a permission. */
const TRAPPED = ["chdir", "kill", "kill_parent_node", "signal"];

/** The bit of what root's channels may, of <linux/capability.h>. */
const CAP_NET_BIND_SERVICE = 1 << 10;

interface World {
  channel: BuiltChannel;
  facts: Record<string, unknown>;
  /** Connections that came to the port that is not the channel's. */
  reached: () => number;
}

async function inWorld(
  run: (world: World) => Promise<void>,
  { sandbox }: { sandbox?: "auto" | "off" } = {},
): Promise<void> {
  const fixture = await WorkerFixture.open({ sandbox });
  let reached = 0;
  const other = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => {
    reached += 1;
    return new Response("other");
  });
  const otherPort = other.addr.port;
  const own = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) =>
      new URL(request.url).pathname === "/redirect"
        ? Response.redirect(`http://127.0.0.1:${otherPort}/`)
        : new Response("own"),
  );
  Deno.env.set("WORKER_TEST_OWN", "mine");
  Deno.env.set("WORKER_TEST_OTHER", "not yours");
  try {
    const otherDir = fixture.stateDir("other");
    await Deno.mkdir(otherDir, { recursive: true });
    await Deno.mkdir(`${fixture.home}/keys`);
    await Deno.writeTextFile(`${otherDir}/secret.txt`, "theirs");
    await Deno.writeTextFile(`${otherDir}/planted.ts`, "export {};");
    for (const file of ["data/service.db", "config.json", "keys/audit.key"]) {
      await Deno.writeTextFile(`${fixture.home}/${file}`, "{}");
    }
    const channel = await fixture.build({
      permissions: { hosts: [`127.0.0.1:${own.addr.port}`], variables: ["WORKER_TEST_OWN"] },
    });
    await run({
      channel,
      reached: () => reached,
      facts: {
        home: fixture.home,
        pid: Deno.pid,
        stateDir: fixture.stateDir(),
        otherDir,
        ownPort: own.addr.port,
        otherPort,
      },
    });
    assertEquals(await Deno.readTextFile(`${otherDir}/secret.txt`), "theirs");
  } finally {
    Deno.env.delete("WORKER_TEST_OWN");
    Deno.env.delete("WORKER_TEST_OTHER");
    await fixture.close();
    await Promise.all([own.shutdown(), other.shutdown()]);
  }
}

/** Runs a test with a sandbox, where there is one, and without. */
function testBoth(name: string, run: (world: World) => Promise<void>): void {
  Deno.test({
    ...needs(`${name} (in the sandbox)`, "bubblewrap"),
    fn: () => inWorld(run),
  });
  Deno.test(`${name} (without a sandbox)`, () => inWorld(run, { sandbox: "off" }));
}

testBoth("a channel does what its manifest names", async ({ channel, facts }) => {
  for (const attempt of ALLOWED) {
    assertStringIncludes(await told(channel, `try ${attempt}`, facts), "allowed: ", attempt);
  }
});

testBoth(
  "a channel reads, connects and starts nothing that its manifest does not name",
  async ({ channel, facts, reached }) => {
    const cwd = Deno.cwd();
    const wrong: string[] = [];
    for (const attempt of Object.keys(ATTEMPTS)) {
      if (ALLOWED.includes(attempt) || HARMLESS.includes(attempt)) continue;
      const came = await told(channel, `try ${attempt}`, facts);
      const refused = TRAPPED.includes(attempt)
        ? came.includes("is not for a channel")
        : /^(NotCapable|PermissionDenied|TypeError|Error|ENOENT|SecurityError)/.test(came);
      if (!refused) wrong.push(`${attempt}: ${came}`);
    }
    assertEquals(wrong, []);
    assertEquals(reached(), 0);
    assertEquals(Deno.cwd(), cwd);
    assertEquals(await told(channel, "loads"), "1");
    assert(!await Deno.stat(`${facts.otherDir}/planted`).catch(() => undefined));
  },
);

testBoth(
  "a channel gets nothing of the service by the number of a descriptor",
  async ({ channel }) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepting = listener.accept();
    using client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
    using server = await accepting;
    // It lies there for whoever reads first.
    await client.write(new TextEncoder().encode("for the service"));
    const got = await told(channel, "adopt");
    assertEquals(got.includes("for the service"), false, got);
    const bytes = new Uint8Array(100);
    const count = await server.read(bytes);
    assertEquals(new TextDecoder().decode(bytes.subarray(0, count!)), "for the service");
    await server.write(new TextEncoder().encode("answer"));
    const answered = await client.read(bytes);
    assertEquals(new TextDecoder().decode(bytes.subarray(0, answered!)), "answer");
  },
);

testBoth("what a channel writes to standard output reaches no frame", async ({ channel }) => {
  await channel.send(order("print \u0000\u0000\u0000\u0002{}"));
  assertEquals(await told(channel, "loads"), "1");
});

Deno.test({
  ...needs(
    "the process of a channel has only its own pipes, and sees only its own files",
    "bubblewrap",
  ),
  fn: () =>
    inWorld(async ({ facts }) => {
      const [pid] = channelProcesses();
      const status = await Deno.readTextFile(`/proc/${pid}/status`);
      const rights = Number.parseInt(/^CapEff:\s*(\w+)/m.exec(status)![1]!, 16);
      assert([0, CAP_NET_BIND_SERVICE].includes(rights), `${rights}`);
      const own = new Set(sockets(Deno.pid));
      assertEquals(sockets(pid!).filter((socket) => own.has(socket)), []);
      const seen = (path: unknown) =>
        Deno.stat(`/proc/${pid}/root${path}`).then(() => true, () => false);
      assertEquals(
        await Promise.all([facts.stateDir, facts.otherDir, `${facts.home}/keys`].map(seen)),
        [true, false, false],
      );
      assertEquals(await Promise.all(["/etc/passwd", "/bin/sh", "/var"].map(seen)), [
        false,
        false,
        false,
      ]);
      const processes = [...Deno.readDirSync(`/proc/${pid}/root/proc`)]
        .filter(({ name }) => /^\d+$/.test(name));
      assert(processes.length <= 2, `${processes.length}`);
    }),
});

/** Sockets that a process has open. */
function sockets(pid: number): string[] {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].flatMap(({ name }) => {
    try {
      return [Deno.readLinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return [];
    }
  }).filter((target) => target.startsWith("socket:"));
}
