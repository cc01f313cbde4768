/** What a start wants of packages: those of channels that are on, and these for their channels alone. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CHANNELS } from "../../channels/mod.ts";
import { openRegistry } from "../../lib/registry/open_registry.ts";
import { bareHome } from "../support/bare_home.ts";
import { until } from "../support/process_facts.ts";

const { usable } = await openRegistry(CHANNELS);

Deno.test("a machine without the packages of channels that are off lists every channel", async () => {
  const { home, env } = await bareHome();
  await using _ = home;
  const { code, stdout, stderr } = await home.run(["plugins", "list"], { env });
  assertEquals(code, 0, stderr);
  for (const name of usable.keys()) assertStringIncludes(stdout, `${name} `);
});

Deno.test("packages that cannot be had keep their channel from starting, plainly, and nothing else (C9)", async () => {
  const { home, env } = await bareHome({
    channels: {
      irc: { enabled: true, host: "127.0.0.1", port: 1, tls: false, nick: "agent" },
      webhook: { enabled: true, port: 0, secret: `whsec_${btoa("0123456789".repeat(4))}` },
    },
  });
  await using _ = home;
  await using gateway = await home.start(["gateway", "--json"], { env });
  const statusOf = async (name: string) => {
    const { code, stdout, stderr } = await home.run(["channels", "status", name, "--json"], {
      env,
    });
    assertEquals(code, 0, stderr);
    return JSON.parse(stdout) as { state: string; problem?: string };
  };
  await until(async () => (await statusOf("irc")).state === "failed");
  const { problem } = await statusOf("irc");
  assertStringIncludes(problem!, "for the channel irc: make sure that this machine reaches");
  assert(!/error|npm package|127\.0\.0\.1/i.test(problem!), problem);
  await until(async () => (await statusOf("webhook")).state === "running");
  assertEquals(await gateway.stop(), 0);
});

Deno.test("plugins enable says which packages cannot be had, and keeps its output clean", async () => {
  const { home, env } = await bareHome({
    channels: { irc: { host: "127.0.0.1", port: 1, tls: false, nick: "agent" } },
  });
  await using _ = home;
  const refused = await home.run(["plugins", "enable", "irc"], { env });
  assertEquals([refused.code, refused.stdout], [1, ""]);
  assertStringIncludes(refused.stderr, "Nothing was written");
  const { code, stdout, stderr } = await home.run(
    ["plugins", "enable", "irc", "--json", "--force"],
    { env },
  );
  assertEquals(code, 0, stderr);
  const { warnings } = JSON.parse(stdout) as { warnings: string[] };
  assert(
    warnings.some((one) => /^Cannot fetch .+ for the channel irc: make sure that/.test(one)),
    stdout,
  );
  assert(/^Fetching \d+ packages\nFetched packages: 0 of \d+, 0 MiB\n/.test(stderr), stderr);
});

Deno.test("tool servers and mcp serve are the only ones that miss the SDK of MCP, and say so", async () => {
  const { home, env } = await bareHome({
    mcp: { servers: { files: { command: ["/bin/true"] } } },
  });
  await using _ = home;
  const answered = await home.run(["agent", "-m", "hi"], { env });
  assertEquals(answered.code, 0, answered.stderr);
  const tested = await home.run(["mcp", "test", "files"], { env });
  assertStringIncludes(tested.stderr, "for tool servers: make sure that this machine reaches");
  const served = await home.run(["mcp", "serve"], { env });
  assertEquals(served.code, 3);
  assertEquals(served.stdout, "");
  assertStringIncludes(served.stderr, "for service mcp serve: make sure that this machine reaches");
});

Deno.test("a gateway with api.mcp doesn't start without its SDK, and says so", async () => {
  const { home, env } = await bareHome({
    api: { enabled: true, port: 0, mcp: true, apiKey: "0123456789abcdef" },
  });
  await using _ = home;
  const { code, stderr } = await home.run(["gateway", "--json"], { env });
  assertEquals(code, 3, stderr);
  assertStringIncludes(stderr, "for api.mcp: make sure that this machine reaches");
});
