import { assert, assertEquals } from "@std/assert";
import { resolvePaths } from "../config/paths.ts";
import { ownHome } from "./own_home.ts";

/** What the service is told of a home with such a configuration: its providers, and keys of tools. */
async function told(config: unknown): Promise<{ providers: string; keys: number }> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  try {
    const home = `${dir}/home`;
    await Deno.mkdir(home, { mode: 0o700 });
    await Deno.writeTextFile(`${home}/config.json`, JSON.stringify(config), { mode: 0o600 });
    const env = (name: string) => name === "SERVICE_HOME" ? home : undefined;
    const owned = await ownHome({
      paths: resolvePaths({ env, homeDir: dir }),
      version: "0",
      env,
      lastGood: false,
      logLevel: "error",
      entry: new URL("../authority/testing/telling_worker.ts", import.meta.url),
    });
    assert("authority" in owned);
    const { modelReason } = owned.authority.started;
    const { interrupted } = await owned.leave({ graceMs: 0 });
    return { providers: modelReason, keys: interrupted };
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("ownHome() keeps the keys of tools and MCP servers from the service", async () => {
  const key = "KEY-OF-A-TOOL";
  const provider = (apiKey: string) => ({ p: { baseUrl: "http://127.0.0.1:1/v1", apiKey } });
  const kept = await told({
    providers: provider("another-key"),
    tools: { webSearch: { provider: "brave", apiKey: key } },
    mcp: {
      servers: {
        s: { url: "https://a.example/", headers: { Authorization: `Bearer ${key}` } },
        t: { command: ["true"], env: { TOKEN: key } },
      },
    },
  });
  assertEquals(kept, { providers: "p", keys: 0 });
  // It calls with the keys of providers, so these it has.
  const { keys } = await told({ providers: provider(key) });
  assert(keys > 0);
});
