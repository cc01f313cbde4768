/** What is typed in a chat at a terminal, and what it stops. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { needs } from "./support/needs.ts";
import { HELD_AT, makeTerminalWorld, MODES } from "./support/terminal_world.ts";

const LAST_WORD = `word${HELD_AT - 1}`;

for (const mode of MODES) {
  Deno.test({
    ...needs(`what is typed while an answer streams stays in the line, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const terminal = await world.open(["agent", "-s", "work"]);
      const banner = await terminal.shows("/help for help");
      assertMatch(banner, /model +local\/fake\n/);
      assertMatch(banner, /folder +~\/home\/workspace\n/);
      assertMatch(banner, /session +work\n/);

      await terminal.say("wait, slow");
      await terminal.shows(/Thinking… \([1-9]s/);
      world.release();
      await terminal.shows(LAST_WORD);
      await terminal.type("typed ahead");
      const streaming = await terminal.shows(/^> typed ahead$/m);
      assertMatch(streaming, /word10 word11/);
      world.release();
      const whole = await terminal.shows("word59");
      assertEquals(whole.split("typed ahead").length, 2, "it stands there once");
      await terminal.edits(/^> typed ahead\s*$/);
      await terminal.press("C-u");
      await terminal.paste("one line\nand another\n/exit\n");
      await terminal.edits(/^> one line\n {2}and another\n {2}\/exit/);
      await terminal.press("Enter");
      await terminal.shows("Answer to one line");
      const { body } = await world.server.request(1);
      assertEquals(body.messages.at(-1).content, "one line\nand another\n/exit\n");
    },
  });

  Deno.test({
    ...needs(
      `Ctrl-C stops the turn and keeps what was said, and twice leaves, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const terminal = await world.open(["agent", "-s", "work"]);
      await terminal.shows("/help for help");
      await terminal.say("slow");
      await terminal.shows(LAST_WORD);
      await terminal.say("/status");
      await terminal.shows("Turns: 1 running, 0 waiting");
      await terminal.say("later");
      await terminal.say("and then");
      await terminal.shows(/queued: later\n *queued: and then/);
      await terminal.press("C-c");
      const stopped = await terminal.shows("Stopped");
      assertStringIncludes(stopped, LAST_WORD);
      // What waited is given back, to be sent or changed.
      await terminal.edits(/^> later\n {2}and then/);
      await terminal.press("Enter");
      const after = await terminal.shows("Answer to later");
      assertEquals(after.split("Stopped").length, 2, after);
      assertEquals((await world.server.request(1)).body.messages.at(-1).content, "later\nand then");

      await terminal.say("slow again");
      await terminal.shows(/slow again[^]*word3/);
      await terminal.say("/stop");
      await terminal.shows(/Stopped[^]*Stopped/);
      await terminal.press("C-c");
      await terminal.shows("Ctrl-C again leaves");
      await terminal.press("C-c");
      assertEquals(await terminal.exit(), 130);
      assertStringIncludes(
        await terminal.screen(),
        "Continue with: service agent --session work",
      );
    },
  });

  Deno.test({
    ...needs(
      `a message waits for the turn before it, and both are answered in order, ${mode}`,
      "Linux",
      "tmux",
    ),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const terminal = await world.open(["agent"]);
      await terminal.shows("/help for help");
      await terminal.type("slow\rsecond\rthird\r");
      await terminal.shows("queued: third");
      await terminal.shows(LAST_WORD);
      assertEquals(world.server.requests.length, 1);
      world.release();
      await terminal.shows(/word59[^]*> second\n\nAnswer to second\n\n> third\n\nAnswer to third/);
      await terminal.press("C-d");
      assertEquals(await terminal.exit(), 0);
    },
  });
}
