import { assertEquals } from "@std/assert";
import { makeHome, type TestHome } from "./support/home.ts";

interface Change {
  by: string;
  keys: string[];
}

/** Audit records of changes of the configuration, in their order. */
async function changes({ dir }: TestHome): Promise<Change[]> {
  const text = await Deno.readTextFile(`${dir}/home/audit/audit.jsonl`);
  return text.trim().split("\n").map((line) => JSON.parse(line))
    .filter(({ kind }) => kind.startsWith("settings."))
    .map(({ kind, data }) => (assertEquals(kind, "settings.change"), data as Change));
}

/** Waits for as many of them: a running service takes up those of commands within a moment. */
async function expectChanges(home: TestHome, expected: [by: RegExp, key: string][]): Promise<void> {
  while ((await changes(home)).length < expected.length) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const found = await changes(home);
  assertEquals(
    found.map(({ by, keys }, at) => [expected[at]![0].test(by), keys]),
    expected.map(([, key]) => [true, [key]]),
  );
}

Deno.test("a change of a setting leaves one audit record, by command and by route, running or not", async () => {
  await using home = await makeHome();
  await home.configure({ channels: { websocket: { enabled: true, port: 0 } } });
  const set = async (key: string, value: string) => {
    const { code, stderr } = await home.run(["config", "set", key, value]);
    assertEquals(code, 0, stderr);
  };
  await set("agent.maxSteps", "7");
  await expectChanges(home, [[/^cli$/, "agent.maxSteps"]]);
  // The same again changes nothing.
  await set("agent.maxSteps", "7");

  const { stdout } = await home.run(["tokens", "issue", "--scopes", "operate"]);
  await using service = await home.start(["gateway", "--json"]);
  await set("agent.maxSteps", "8");
  await expectChanges(home, [[/^cli$/, "agent.maxSteps"], [/^cli$/, "agent.maxSteps"]]);
  const response = await fetch(
    new URL("/api/webui/settings", service.wsUrl.replace(/^ws/, "http")),
    {
      method: "PUT",
      headers: { authorization: `Bearer ${stdout.trim()}`, "content-type": "application/json" },
      body: JSON.stringify({ changes: [{ path: "agent.instructions", value: "Be brief." }] }),
    },
  );
  const answer = await response.json();
  assertEquals([response.status, answer.written], [200, true]);
  await expectChanges(home, [
    [/^cli$/, "agent.maxSteps"],
    [/^cli$/, "agent.maxSteps"],
    [/^token:tok_/, "agent.instructions"],
  ]);
  await service.stop();
  const verified = await home.run(["audit", "verify"]);
  assertEquals(verified.code, 0, verified.stdout + verified.stderr);
});
