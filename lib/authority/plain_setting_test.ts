import { assertEquals } from "@std/assert";
import { isPlainSetting } from "./plain_setting.ts";

Deno.test("isPlainSetting() tells a setting from a secret by its place and its look", () => {
  const cases: [string, string, boolean][] = [
    ["mcp.servers.a.headers.Accept", "application/json", true],
    ["providers.a.headers.User-Agent", "my-agent/1.0", true],
    ["providers.a.headers.X-Title", "my title", true],
    ["providers.a.headers.Authorization", "Bearer abcdefgh", false],
    ["providers.a.headers.x-custom", "application/json", false],
    ["mcp.servers.memory.env.MEMORY_FILE_PATH", "/home/me/memory.json", true],
    ["mcp.servers.a.env.NODE_ENV", "production", true],
    ["mcp.servers.a.env.BASE_URL", "https://example.com:8443/api", true],
    ["mcp.servers.a.env.BASE_URL", "https://me:pw@example.com/", false],
    ["mcp.servers.a.env.BASE_URL", "https://example.com/?key=abcdefgh", false],
    ["mcp.servers.a.env.GITHUB_TOKEN", "production", false],
    ["mcp.servers.a.env.DB_PASS", "/home/me/memory.json", false],
    ["mcp.servers.a.env.X", "correct-horse-battery-staple", false],
    ["mcp.servers.a.env.X", "aZ09aZ09aZ09", false],
    ["providers.local.apiKey", "lm-studio", true],
    ["api.apiKey", "lm-studio", false],
    ["providers.a.apiKey", "/etc/passwords", false],
  ];
  for (const [name, value, expected] of cases) {
    assertEquals(isPlainSetting({ name, value }), expected, `${name}=${value}`);
  }
});
