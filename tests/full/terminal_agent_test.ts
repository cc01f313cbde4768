/** `service agent` with a message, at a terminal and where nobody sits at one. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { needs } from "../support/needs.ts";
import { until } from "../support/process_facts.ts";
import { makeTerminalWorld, MODES, readQuestion } from "../support/terminal_world.ts";

const write = (path: string) => `call write_file ${JSON.stringify({ path, content: "x" })}`;

for (const mode of MODES) {
  Deno.test({
    ...needs(
      `agent asks once about a folder, and works there from then on, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, open } = world;
      const root = await Deno.realPath(home.dir);
      const [site, declined] = [`${root}/site`, `${root}/other`];
      await Deno.mkdir(`${site}/.git`, { recursive: true });
      await Deno.mkdir(`${site}/src`);
      await Deno.mkdir(declined);
      for (const folder of [site, declined]) {
        await Deno.writeTextFile(`${folder}/a.txt`, "of the folder");
      }
      const read = 'call read_file {"path":"a.txt"}';

      const first = await open(["agent", read], { cwd: `${site}/src` });
      await first.shows(`The agent can work in ${site}.`);
      await first.shows("Work in this folder? [y/N]");
      await first.say("y");
      await first.shows("The tool said: of the folder");
      await first.shows("Continue with: service agent -c");
      assertEquals(await first.exit(), 0);
      const second = await open(["agent", read], { cwd: `${site}/src` });
      assertEquals(await second.exit(), 0);
      const screen = await second.shows("The tool said: of the folder");
      assertEquals(screen.includes("Work in this folder?"), false, screen);
      const chat = await open(["agent"], { cwd: site });
      assertMatch(await chat.shows("/help for help"), /folder +~\/site\n/);
      await chat.press("C-d");
      const named = await open(["agent", "-C", site, "-c"], { cwd: declined });
      assertMatch(await named.shows("/help for help"), /folder +~\/site\n/);
      await named.press("C-d");

      const asked = await open(["agent", read], { cwd: declined });
      await asked.shows("Work in this folder? [y/N]");
      await asked.press("Enter");
      await asked.shows(`Working in the workspace instead. To change your mind: `);
      await asked.shows(`service projects allow`);
      await asked.exit();
      const again = await open(["agent"], { cwd: declined });
      const banner = await again.shows("/help for help");
      assertMatch(banner, /folder +~\/home\/workspace\n/);
      assertEquals(banner.includes("Work in this folder?"), false, banner);
    },
  });

  Deno.test({
    ...needs(`agent starts anew, -c continues, --session names, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, server } = world;
      const users = async (request: number) =>
        (await server.request(request)).body.messages
          .filter(({ role }: { role: string }) => role === "user").length;
      const ask = async (...args: string[]) => {
        const terminal = await world.open(["agent", ...args], {
          cwd: `${home.dir}/home/workspace`,
        });
        assertEquals(await terminal.exit(), 0, await terminal.screen());
        return await terminal.screen();
      };
      await Deno.mkdir(`${home.dir}/home/workspace`, { recursive: true });
      assertStringIncludes(await ask("markdown"), "• first item");
      await ask("two words");
      await ask("-c", "three");
      await ask("--session", "work", "four");
      await ask("-s", "work", "-m", "five");
      assertEquals(
        [await users(0), await users(1), await users(2), await users(3), await users(4)],
        [1, 1, 2, 1, 2],
      );
      const value = JSON.parse((await ask("-c", "--json", "six")).split("\n[exit")[0]!
        .replaceAll("\n", ""));
      assertEquals(
        [value.answer, value.status, value.session, value.tools, value.usage.inputTokens],
        ["Answer to six", "done", "work", [], 11],
      );
      const events = await ask("--json-stream", "seven");
      for (const type of ["turn_start", "text_delta", "segment_end", "usage", "turn_end"]) {
        assertStringIncludes(events.replaceAll("\n", ""), `"event":{"type":"${type}"`);
      }
    },
  });

  Deno.test({
    ...needs(`agent asks about an action of its turn, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, approver, open } = world;
      const file = `${home.dir}/outside.txt`;
      const terminal = await open(["agent", write(file)], { env: approver, rows: 40 });
      const prompt = await terminal.shows("Type a number, or Enter to leave it waiting:");
      for (
        const words of [
          `fs.write of ${file}`,
          "1. Allow once",
          "2. Allow for this session",
          "3. Always allow",
          "4. Deny",
          "5. Deny with a reason",
        ]
      ) assertStringIncludes(prompt, words);
      await readQuestion();
      await terminal.say("1");
      await terminal.shows("The tool said: ");
      assertEquals([await terminal.exit(), await Deno.readTextFile(file)], [0, "x"]);

      const denied = await open(["agent", "-s", "no", write(`${home.dir}/other.txt`)], {
        env: approver,
        rows: 40,
      });
      await denied.shows("Type a number");
      await readQuestion();
      await denied.say("4");
      await denied.shows("Blocked in this session. Unblock it with:\n");
      await denied.shows("service blocks clear cli:no fs.write");
      assertEquals(await denied.exit(), 5);
    },
  });

  Deno.test({
    ...needs(
      `agent ends at once where nobody can allow an action, and --wait waits, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, open, approver } = world;
      const file = `${home.dir}/outside.txt`;
      const ask = ["agent", "-s", "work", write(file)];
      const refused = await open(ask, { redirect: "< /dev/null", columns: 160 });
      assertEquals(await refused.exit(), 5);
      const screen = await refused.screen();
      assertStringIncludes(screen, "Nobody was there to allow this.");
      assertStringIncludes(screen, `  service grants add cli:work fs.write ${file}\n`);
      assertStringIncludes(screen, '  service agent --session work "Go on"\n');
      assertEquals(screen.includes("It would take"), false, screen);
      if (mode === "with a gateway") {
        const yes = await open([...ask, "-y"], { redirect: "< /dev/null", columns: 160 });
        assertEquals(await yes.exit(), 5);
        assertStringIncludes(await yes.screen(), "SERVICE_APPROVER_TOKEN");
      }
      const approved = await open(
        ["agent", "-y", write(`${home.dir}/yes.txt`)],
        { redirect: "< /dev/null", env: approver },
      );
      assertEquals(await approved.exit(), 0);
      assertEquals(await Deno.readTextFile(`${home.dir}/yes.txt`), "x");

      const env = {
        SERVICE_APPROVER_TOKEN: (await home.run(["tokens", "issue", "--scopes", "approve"]))
          .stdout.trim(),
      };
      const waits = await open([...ask, "--wait"], { redirect: "< /dev/null" });
      let line = "";
      await until(async () => {
        line = (await home.run(["approvals", "list", "--json"], { env })).stdout;
        return line !== "";
      });
      const { id, digest } = JSON.parse(line);
      const answer = await home.run(["approvals", "approve", id, "--digest", digest], { env });
      assertEquals(answer.code, 0, answer.stderr);
      await waits.shows("The tool said: ");
      assertEquals([await waits.exit(), await Deno.readTextFile(file)], [0, "x"]);
    },
  });
}
