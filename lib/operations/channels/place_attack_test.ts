import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ATTEMPTS } from "../../place/testing/attempts.ts";
import type { BuiltChannel } from "../../channel/channel_link.ts";
import { PlaceFixture, told } from "./testing/place_fixture.ts";

/** What its permissions name; everything else is refused. */
const ALLOWED = ["write_own", "read_own", "connect_own", "fetch_own", "env_own"];

/** Asks about permissions, and needs none. */
const HARMLESS = ["query"];

/** Attempts that are refused by a trap and not by a permission. */
const TRAPPED = ["chdir", "kill", "signal"];

interface World {
  channel: BuiltChannel;
  facts: Record<string, unknown>;
  /** Connections that came to the port that is not the channel's. */
  reached: () => number;
}

async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  const fixture = await PlaceFixture.open();
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
  Deno.env.set("PLACE_TEST_OWN", "mine");
  Deno.env.set("PLACE_TEST_OTHER", "not yours");
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
      permissions: { hosts: [`127.0.0.1:${own.addr.port}`], variables: ["PLACE_TEST_OWN"] },
    });
    await run({
      channel,
      reached: () => reached,
      facts: {
        home: fixture.home,
        stateDir: fixture.stateDir(),
        otherDir,
        ownPort: own.addr.port,
        otherPort,
      },
    });
    assertEquals(await Deno.readTextFile(`${otherDir}/secret.txt`), "theirs");
  } finally {
    Deno.env.delete("PLACE_TEST_OWN");
    Deno.env.delete("PLACE_TEST_OTHER");
    await fixture.close();
    await Promise.all([own.shutdown(), other.shutdown()]);
  }
}

Deno.test("a channel does what its manifest names", async () => {
  await inWorld(async ({ channel, facts }) => {
    for (const attempt of ALLOWED) {
      assertStringIncludes(await told(channel, `try ${attempt}`, facts), "allowed: ", attempt);
    }
  });
});

Deno.test("a channel reads, connects and starts nothing that its manifest does not name", async () => {
  await inWorld(async ({ channel, facts, reached }) => {
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
  });
});
