/** What a chat at a terminal shows, at any width. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { needs } from "../support/needs.ts";
import { until } from "../support/process_facts.ts";
import { HELD_AT, makeTerminalWorld, MARKDOWN, MODES } from "../support/terminal_world.ts";

for (const mode of MODES) {
  Deno.test({
    ...needs(
      `an answer is rendered, at any width and while that changes, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const terminal = await world.open(["agent", "-s", "talk"], { columns: 60 });
      await terminal.shows("/help for help");
      await terminal.say("markdown");
      const screen = await terminal.shows("The end.");
      assertMatch(screen, /^Findings$/m);
      assertMatch(screen, /^• first item$/m);
      assertMatch(screen, /^Name {2}│ Value$/m);
      assertMatch(screen, /^ {2}const answer = 42; \/\/ why$/m);
      assert(!screen.includes("**"), screen);
      assertMatch(screen, /by so many\n *others/, "words are wrapped");
      const colors = await terminal.screen({ colors: true });
      assertStringIncludes(colors, "\x1b[35mconst", "code has colours");
      assertStringIncludes(colors, "\x1b[36mFindings", "headings stand out");

      await terminal.say("slow");
      await terminal.shows(`word${HELD_AT - 1}`);
      await terminal.resize(20, 20);
      await terminal.shows(/word1?\d word1?\d\n/);
      await terminal.type("narrow line that is long");
      await terminal.shows(/^> narrow line that *\n {2}is long/m);
      world.release();
      await terminal.shows("word59");
      await terminal.resize(100, 30);
      const wide = await terminal.shows("word59");
      for (const word of ["word0 ", "word31", "word59"]) {
        assertEquals(wide.split(word).length, 2, `${word}\n${wide}`);
      }
      await terminal.edits(/^> narrow line that is long/);
    },
  });

  Deno.test({
    ...needs(
      `a spinner counts seconds and tokens until the first word, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const terminal = await world.open(["agent"]);
      await terminal.shows("/help for help");
      await terminal.say("think");
      await terminal.shows(/Thinking… \([1-9]\d*s · \d+ tokens · Ctrl-C stops\)/);
      await terminal.shows("thought10");
      world.release();
      const done = await terminal.shows("Thought through");
      assert(!done.includes("Thinking…"), done);
      assertMatch(done, /Thought for [1-9]\d* s/);
    },
  });

  Deno.test({
    ...needs(`the output of a tool is folded, with its size, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const text = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
      await Deno.mkdir(`${world.home.dir}/home/workspace`, { recursive: true });
      await Deno.writeTextFile(`${world.home.dir}/home/workspace/long.txt`, text);
      const terminal = await world.open(["agent"], { columns: 40, rows: 60 });
      await terminal.shows("/help for help");
      await terminal.press("C-o");
      await terminal.shows("No tool output yet");
      await terminal.say('call read_file {"path":"long.txt"}');
      const folded = await terminal.shows("The tool said:");
      assertMatch(folded, /^● read_file long.txt\n.*line 0\n.*line 1\n.*line 2\n {2}… \d+ more/m);
      assertMatch(folded, /… \d+ more lines \(\d+ B; Ctrl-O shows\n {2}all\)/);
      assert(!folded.includes("line 30"), folded);
      await terminal.press("C-o");
      await terminal.shows("line 39");
    },
  });

  Deno.test({
    ...needs(
      `a chat is plain where it is piped or colours are not wanted, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const plain = await world.open(["agent", "-s", "talk"], { env: { NO_COLOR: "1" } });
      await plain.shows("/help for help");
      await plain.say("markdown");
      const screen = await plain.shows("The end.");
      assertMatch(screen, /Some \*\*bold\*\* words/);
      // deno-lint-ignore no-control-regex
      assert(!/\x1b\[/.test(await plain.screen({ colors: true })));
      await plain.press("C-d");
      await plain.exit();

      const out = `${world.home.dir}/out.txt`;
      const piped = await world.open(["agent", "-s", "other"], { redirect: `> ${out}` });
      await piped.shows("/help for help");
      await piped.say("markdown");
      await until(async () => (await Deno.readTextFile(out)).endsWith("The end.\n"));
      await piped.say("/exit");
      await piped.exit();
      assertEquals(await Deno.readTextFile(out), `${MARKDOWN}\n`);

      // Whoever reads is gone before the first word, since an answer may come as one.
      const closed = await world.open(["agent", "-s", "third"], { redirect: "| true" });
      await closed.shows("/help for help");
      await closed.say("slow");
      assertEquals(await closed.exit(), 0);
    },
  });

  Deno.test({
    ...needs(`an answer that breaks off says so on a line of its own, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const terminal = await world.open(["agent", "--verbose"], { columns: 120 });
      await terminal.shows("/help for help");
      await terminal.say("cut off");
      await terminal.type("typed meanwhile");
      const failed = await terminal.shows("error: the answer of local/fake was cut off");
      assertStringIncludes(failed, "Half of an");
      // The log of a service in this process goes above the edited line.
      if (mode === "without a gateway") {
        assertMatch(failed, /^\d{4}-\d\d-\d\dT\S+ warning A turn failed/m);
      }
      await terminal.edits(/^> typed meanwhile\s*$/);
    },
  });
}
