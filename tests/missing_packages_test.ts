/** What a start wants of packages: those of channels that are on, and these for their channels alone (decisions D1, D2). */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CHANNELS } from "../channels/mod.ts";
import { openRegistry } from "../lib/channel/registry/open_registry.ts";
import { denoDirectory } from "./support/deno_directory.ts";
import { makeHome, type TestHome } from "./support/home.ts";

const { usable } = await openRegistry(CHANNELS);

/** Packages of every channel that has a place of its own. */
const PACKAGES = new Set(
  [...usable.values()]
    .filter(({ descriptor }) => !descriptor.capabilities.includes("in_service"))
    .flatMap(({ descriptor }) => descriptor.dependencies)
    .map((one) => one.slice("npm:".length, one.lastIndexOf("@"))),
);

/** A home on a machine that has none of them and reaches no registry. */
async function bareHome(
  config?: unknown,
): Promise<{ home: TestHome; env: Record<string, string> }> {
  const home = await makeHome(config);
  const denoDir = `${home.dir}/deno`;
  await denoDirectory(denoDir, [...PACKAGES, "playwright-core"]);
  const nobody = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const proxy = `http://127.0.0.1:${nobody.addr.port}/`;
  nobody.close();
  return { home, env: { DENO_DIR: denoDir, HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
}

Deno.test("a machine without the packages of channels that are off lists every channel", async () => {
  assert(PACKAGES.size > 0);
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
  let irc = await statusOf("irc");
  while (irc.state !== "failed") irc = await statusOf("irc");
  assertStringIncludes(irc.problem!, "for the channel irc: make sure that this machine reaches");
  assert(!/error|npm package|127\.0\.0\.1/i.test(irc.problem!), irc.problem);
  let webhook = await statusOf("webhook");
  while (webhook.state !== "running") webhook = await statusOf("webhook");
  assertEquals(await gateway.stop(), 0);
});
