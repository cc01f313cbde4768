/** Actions that wait for a person, in a chat at a terminal. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../support/needs.ts";
import { makeTerminalWorld, MODES, readQuestion } from "../support/terminal_world.ts";

const write = (path: string, content = "x") =>
  `call write_file ${JSON.stringify({ path, content })}`;

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);

for (const mode of MODES) {
  Deno.test({
    ...needs(`approvals are a prompt with every answer, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, approver, open } = world;
      const terminal = await open(["agent", "-s", "talk"], { rows: 60, env: approver });
      await terminal.shows("/help for help");
      const file = `${home.dir}/outside.txt`;

      await terminal.say(write(file, "one"));
      const prompt = await terminal.shows("5. Deny with a reason");
      for (
        const fact of [`fs.write of ${file}`, "access: write", "content: one", "1. Allow once"]
      ) {
        assertStringIncludes(prompt, fact);
      }
      for (
        const choice of ["2. Allow for this session", "3. Always", "4. Deny", "Press a number"]
      ) {
        assertStringIncludes(prompt, choice);
      }
      await readQuestion();
      await terminal.press("1");
      await terminal.shows("The tool said: ");
      assertEquals(await Deno.readTextFile(file), "one");

      await terminal.say(write(file, "two"));
      await terminal.shows("content: two");
      await readQuestion();
      // The second answer, with the arrows.
      await terminal.press("Down", "Down", "Enter");
      await terminal.shows(/(The tool said: [^]*){2}/);
      await terminal.say(write(file, "three"));
      await terminal.shows("allowed for this session");
      await terminal.shows(/(The tool said: [^]*){3}/);
      assertEquals(await Deno.readTextFile(file), "three");

      // A line that was typed ahead answers nothing.
      await terminal.say(`call read_file ${JSON.stringify({ path: file })}`);
      await terminal.type("12");
      await terminal.shows("Send or clear the line below");
      await terminal.edits(/^> 12/);
      await terminal.press("C-u");
      await readQuestion();
      await terminal.press("3");
      await terminal.shows("A grant for exactly this was added");
      await terminal.shows(/(The tool said: [^]*){4}/);
      assertStringIncludes((await home.run(["grants", "list"])).stdout, file);

      await terminal.say(write(`${home.dir}/other.txt`));
      await terminal.shows(`fs.write of ${home.dir}/other.txt`);
      await readQuestion();
      await terminal.press("5");
      await terminal.shows("Reason:");
      await terminal.say("not there");
      await terminal.shows("Blocked in this session. Unblock it with:");
      await terminal.shows("service blocks clear cli:talk fs.write");
      await terminal.shows(/(The tool said: [^]*){5}/);
      assert(!await exists(`${home.dir}/other.txt`));
      await terminal.press("C-d");
      assertEquals(await terminal.exit(), 0);
    },
  });

  Deno.test({
    ...needs(
      `/approve and /deny act at once, and Ctrl-C takes the question away, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, approver, open } = world;
      const terminal = await open(["agent", "-s", "talk"], { rows: 50, env: approver });
      await terminal.shows("/help for help");
      await terminal.say("/approve");
      await terminal.shows("Nothing waits for your approval here");
      const file = `${home.dir}/outside.txt`;
      // A line that was typed ahead approves nothing.
      await terminal.type(`${write(file)}\r1\ra\r`);
      await terminal.shows(/queued: 1\n *queued: a/);
      await terminal.shows(`Allow fs.write of ${file}?`);
      await terminal.press("C-c");
      await terminal.shows("the approval is void");
      await terminal.edits(/^> 1\n {2}a/);
      await terminal.press("C-u", "BSpace", "C-u");
      assert(!await exists(file), await terminal.screen());

      await terminal.say(write(file));
      await terminal.shows("Press a number");
      await readQuestion();
      await terminal.press("Escape");
      await terminal.shows("It still waits: answer it with /approve or /deny");
      await terminal.say("/approve");
      await terminal.shows("The tool said: ");
      assert(await exists(file));
      await terminal.say(write(`${home.dir}/other.txt`));
      await terminal.shows(`Allow fs.write of ${home.dir}/other.txt?`);
      await terminal.say("/deny no");
      await terminal.shows("Blocked in this session. Unblock it with:");
      await terminal.press("C-d");
      assertEquals(await terminal.exit(), 0);
    },
  });

  Deno.test({
    ...needs(`a narrow terminal shows the whole question, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, approver, open } = world;
      const terminal = await open(["agent"], { columns: 20, rows: 30, env: approver });
      await terminal.shows("/help for help");
      await terminal.say(write(`${home.dir}/outside.txt`));
      const prompt = await terminal.shows("reason\nPress a number");
      assert(prompt.split("\n").every((line) => line.length <= 20), prompt);
      await readQuestion();
      await terminal.press("4");
      await terminal.shows("denied");
    },
  });
}
