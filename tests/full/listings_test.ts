import { assert, assertEquals, assertLessOrEqual, assertNotEquals } from "@std/assert";
import { homePaths } from "../../cli/home_paths.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { openJournal } from "../../lib/journal/open.ts";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { EXIT } from "../../cli/command.ts";
import { COMMANDS } from "../../cli/commands.ts";
import { dispatch } from "../../cli/dispatch.ts";
import { displayWidth } from "../../cli/display_width.ts";
import { memoryOutput } from "../../cli/testing/memory_output.ts";
import { makeHome } from "../support/home.ts";

/** What makes the content of the home. */
const SET_UP = [
  [
    "agent",
    "--no-stdin",
    "-m",
    "A long first message, whose words become the title of the session",
  ],
  ["projects", "allow", "DIR"],
  ["agent", "--no-stdin", "-s", "notes", "-m", "hi"],
  [
    "grants",
    "add",
    "automation:news",
    "net.fetch",
    "https://example.com/feed.xml",
    "--note",
    "feed",
  ],
  ["tokens", "issue", "--scopes", "read,chat", "--name", "laptop of Ann", "--expires", "30d"],
  ["automations", "create", "-m", "News?", "--every", "1h"],
];

/** Every command that lists or shows something. */
const LISTINGS = [
  ["--help"],
  ["status"],
  ["projects"],
  ["sessions"],
  ["sessions", "show", "notes"],
  ["models"],
  ["plugins"],
  ["channels"],
  ["plugins", "info", "telegram"],
  ["config", "path"],
  ["mcp"],
  ["permissions"],
  ["automations"],
  ["automations", "show", "AUTOMATION"],
  ["outbox"],
  ["blocks"],
  ["grants"],
  ["policy"],
  ["tokens"],
  ["secrets"],
  ["audit"],
  ["audit", "verify"],
  ["version"],
  ["completions", "bash"],
];

/** What is printed as it is: a path, a script, the words of a conversation. */
const WHOLE = new Set(["config path", "completions bash", "sessions show notes"]);

Deno.test("every listing fits a narrow terminal, and ends quietly when its reader is gone", async (t) => {
  await using home = await makeHome({
    mcp: { servers: { files: { command: ["/bin/false"] } } },
    channels: { webhook: { enabled: true, secret: `whsec_${btoa("x".repeat(32))}` } },
  });
  const before = Deno.env.get("SERVICE_HOME");
  Deno.env.set("SERVICE_HOME", `${home.dir}/home`);
  try {
    await Deno.chmod(homePaths({}).configFile, 0o600);
    await Deno.mkdir(`${home.dir}/site`);
    let automation = "";
    for (const each of SET_UP) {
      const line = each.map((word) => word === "DIR" ? `${home.dir}/site` : word);
      const { out, stdout, stderr } = memoryOutput();
      const exit = await dispatch(line, { commands: COMMANDS, out });
      assertEquals(exit, EXIT.done, `${line.join(" ")}: ${stderr.text}`);
      automation = stdout.text.trim();
    }
    await addState(homePaths({}));
    await using _gateway = await home.start(["gateway", "--json"]);

    for (const line of LISTINGS) {
      const name = line.join(" ");
      const args = line.map((word) => word === "AUTOMATION" ? automation : word);
      await t.step(name, async () => {
        for (const columns of WHOLE.has(name) ? [] : [40, 20]) {
          const { out, stdout, stderr } = memoryOutput({ stdout: true, noColor: true, columns });
          const exit = await dispatch(args, { commands: COMMANDS, out });
          assertEquals(exit, EXIT.done, stderr.text);
          assertNotEquals(stdout.text, "", stderr.text);
          for (const shown of stdout.text.split("\n")) {
            // An example of the help is a line to copy.
            if (shown.startsWith("  service ")) continue;
            assertLessOrEqual(displayWidth(shown), Math.max(columns, 26), shown);
          }
        }
        const { out, stdout, stderr } = memoryOutput();
        stdout.failures.push(...Array.from({ length: 9 }, () => new Deno.errors.BrokenPipe()));
        const exit = await dispatch(args, { commands: COMMANDS, out });
        assertEquals([exit, stdout.text], [EXIT.done, ""]);
        assert(!stderr.text.includes("error"), stderr.text);
      });
    }
  } finally {
    if (before === undefined) Deno.env.delete("SERVICE_HOME");
    else Deno.env.set("SERVICE_HOME", before);
  }
});

/** What no command makes by itself: a block, a secret, an undelivered message. */
async function addState({ database, operatorDir, keysDir }: HomePaths): Promise<void> {
  const state = await openOperatorState({ dir: operatorDir, keysDir });
  await state.latches.set({ sessionKey: "cli:default", capability: "exec", reason: "not now" });
  await state.secrets.set({
    name: "GITHUB_TOKEN",
    value: "wKx3_9vTq-2mZp",
    hosts: ["api.github.com", "*.github.com"],
  });
  await state.close();
  const journal = openJournal({ path: database });
  await journal.enqueue({
    id: "m1",
    channel: "telegram",
    chatId: "-100123456789",
    content: "The build of the repository failed in 3 of 12 steps",
  });
  await journal.close();
}
