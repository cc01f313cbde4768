/** What helps to type in a chat at a terminal: completion, history, attachments, earlier messages. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../support/needs.ts";
import { makeTerminalWorld, MODES } from "../support/terminal_world.ts";

/** One red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5E" +
  "rkJggg==";

for (const mode of MODES) {
  Deno.test({
    ...needs(`Tab completes commands, models, sessions and files, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, open } = world;
      await Deno.writeTextFile(`${home.dir}/notes for you.md`, "the content of notes");
      await Deno.writeTextFile(`${home.dir}/numbers.txt`, "1 2 3");
      const terminal = await open(["agent", "-s", "talk"]);
      await terminal.shows("/help for help");
      await terminal.type("/sta");
      await terminal.press("Tab");
      await terminal.edits(/^> \/status *$/m);
      await terminal.press("C-u");
      await terminal.say("/statu");
      await terminal.shows('Unknown command: "/statu"; did you mean /status?');
      await terminal.press("C-u");
      await terminal.type("/model sw");
      await terminal.press("Tab");
      await terminal.edits(/^> \/model swift *$/m);
      await terminal.press("Enter");
      await terminal.shows("Model from the next turn on");
      await terminal.say("hello");
      await terminal.shows("Answer to hello");
      await terminal.type("/session ta");
      await terminal.press("Tab");
      await terminal.edits(/^> \/session talk *$/m);
      await terminal.press("C-u");
      await terminal.type("read @n");
      await terminal.press("Tab");
      await terminal.shows('@"notes for you.md"  @numbers.txt');
      await terminal.type("u");
      await terminal.press("Tab");
      await terminal.edits(/^> read @numbers.txt *$/m);
    },
  });

  Deno.test({
    ...needs(
      `@path attaches files and images, and Ctrl-R finds what was typed, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const { home, server, open } = world;
      await Deno.writeTextFile(`${home.dir}/numbers.txt`, "1 2 3");
      await Deno.writeFile(`${home.dir}/red.png`, Uint8Array.fromBase64(PNG));
      // A disk that is full under the history costs no more than the history.
      await Deno.mkdir(`${home.dir}/home`, { recursive: true });
      await Deno.symlink("/dev/full", `${home.dir}/home/history`);
      const terminal = await open(["agent", "-s", "talk"]);
      await terminal.shows("/help for help");
      await terminal.say("read @numbers.txt");
      await terminal.shows("attached numbers.txt (5 B)");
      await terminal.shows("Answer to");
      assertStringIncludes(JSON.stringify((await server.request(0)).body.messages), "1 2 3");
      await terminal.say("look at @red.png.");
      await terminal.shows("attached red.png (70 B)");
      assertStringIncludes(JSON.stringify((await server.request(1)).body.messages), PNG);
      await terminal.shows(/(Answer to [^]*){2}/);

      await terminal.press("C-r");
      await terminal.type("numb");
      await terminal.shows("history: numb");
      await terminal.press("Enter");
      await terminal.edits(/^> read @numbers.txt/m);
      await terminal.press("C-c");
      await terminal.press("C-d");
      assertEquals(await terminal.exit(), 0);
    },
  });

  Deno.test({
    ...needs(`a session that is resumed shows its last messages, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const first = await world.open(["agent", "-s", "talk"]);
      await first.shows("/help for help");
      await first.say("/model swift");
      await first.shows("Model from the next turn on");
      await first.say("hello");
      await first.shows("Answer to hello");
      await first.press("C-d");
      assertEquals(await first.exit(), 0);
      for (const args of [["agent", "-c"], ["agent", "-s", "talk"]]) {
        const again = await world.open(args, { columns: 20, rows: 24 });
        const resumed = await again.shows("Answer to hello");
        for (const words of ["session  talk", "Earlier in this", "> hello", "(preset"]) {
          assertStringIncludes(resumed, words);
        }
        assert(resumed.split("\n").every((line) => line.length <= 20), resumed);
        // What was typed then is behind the arrow keys.
        await again.press("Up");
        await again.edits(/^> hello/);
        await again.press("C-u", "C-d");
        assertEquals(await again.exit(), 0);
      }
    },
  });
}
