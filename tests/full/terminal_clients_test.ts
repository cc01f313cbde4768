/** Several terminals in one chat, and a gateway that goes away under them. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { needs } from "../support/needs.ts";
import { HELD_AT, makeTerminalWorld, MODES, readQuestion } from "../support/terminal_world.ts";

const LAST_WORD = `word${HELD_AT - 1}`;

for (const mode of MODES) {
  Deno.test({
    ...needs(`two terminals in a session see and stop each other, ${mode}`, "Linux", "tmux"),
    async fn() {
      await using world = await makeTerminalWorld(mode);
      const one = await world.open(["agent", "-s", "both"]);
      await one.shows("/help for help");
      const two = await world.open(["agent", "-s", "both"]);
      await two.shows("/help for help");
      await one.say("from the first");
      await two.shows("> (elsewhere) from the first");
      await two.shows("Answer to from the first");
      await two.say("slow");
      await one.shows("> (elsewhere) slow");
      await one.shows(LAST_WORD);
      await one.say("after that");
      await one.shows("queued: after that");
      await one.press("C-c");
      for (const terminal of [one, two]) {
        const stopped = await terminal.shows("Stopped");
        assertStringIncludes(stopped, LAST_WORD);
      }
      await one.edits(/^> after that/);
      await one.press("Enter");
      await two.shows("Answer to after that");
      await one.press("C-d");
      // Who has the home stays for the others.
      if (mode === "without a gateway") await one.shows("Waiting for 1 other command");
      await two.press("C-d");
      assertEquals([await one.exit(), await two.exit()], [0, 0]);
    },
  });
}

Deno.test({
  ...needs("a chat goes on when its gateway comes back, with all that waited", "Linux", "tmux"),
  async fn() {
    await using world = await makeTerminalWorld("with a gateway");
    const one = await world.open(["agent", "-s", "both"]);
    const two = await world.open(["agent", "-s", "both"]);
    await Promise.all([one.shows("/help for help"), two.shows("/help for help")]);
    await one.say("slow");
    await one.shows(LAST_WORD);
    await one.say("before it went");
    await one.shows("queued: before it went");
    await world.gateway!.kill();
    await one.shows("waiting for it to come back");
    for (const terminal of [one, two]) {
      const lost = await terminal.shows("error: The service stopped during the turn");
      assertStringIncludes(lost, LAST_WORD);
    }
    await one.say("while it was away");
    await one.shows(/queued: before it went\n *queued: while it was away/);
    await using _again = await world.home.start(["gateway", "--json"]);
    await one.shows("Connected again");
    await one.shows(/Answer to before it went[^]*Answer to while it was away/);
    await two.shows("> (elsewhere) while it was away");
    await two.shows("Answer to while it was away");
    assertEquals((await one.screen()).split("word0").length, 2);
    await one.press("C-d");
    await two.press("C-d");
    assertEquals([await one.exit(), await two.exit()], [0, 0]);
  },
});

/** A world whose gateway has a port that `service chat` finds in the configuration. */
function makePortWorld() {
  return makeTerminalWorld("with a gateway", {
    channels: { websocket: { enabled: true, port: freePort() } },
  });
}

Deno.test({
  ...needs("service chat is the same chat over the WebSocket port", "Linux", "tmux"),
  async fn() {
    await using world = await makePortWorld();
    const { home, open } = world;
    const args = ["chat", "--chat", "shared"];
    const one = await open(args, { rows: 50 });
    const banner = await one.shows("/help for help");
    assertMatch(banner, /server +127.0.0.1:\d+\nmodel +local\/fake\nsession +shared\n/);
    const two = await open(args, { rows: 50 });
    await two.shows("/help for help");
    await one.say("slow");
    await one.shows(LAST_WORD);
    await one.type("ahead");
    await two.shows("> (elsewhere) slow");
    await two.shows(LAST_WORD);
    await one.edits(/^> ahead/);
    await one.press("C-u");
    await one.say("/status");
    await one.shows("Turns: 1 running, 0 waiting");
    await one.say("afterwards");
    await one.shows("queued: afterwards");
    await two.press("C-c");
    for (const terminal of [one, two]) {
      assertStringIncludes(await terminal.shows("Stopped"), LAST_WORD);
    }
    // What waits in a terminal is nobody else's to stop.
    await one.shows("Answer to afterwards");

    const three = await open(args, { rows: 50 });
    const resumed = await three.shows("Answer to afterwards");
    assertStringIncludes(resumed, "Earlier in this session");
    assertStringIncludes(resumed, "> slow");
    const file = `${home.dir}/outside.txt`;
    await three.say(`call write_file ${JSON.stringify({ path: file, content: "x" })}`);
    await three.shows("3. Always allow");
    await readQuestion();
    await three.press("3");
    await three.shows("A grant for exactly this was added");
    for (const terminal of [one, two, three]) await terminal.shows("The tool said: ");
    assertEquals(await Deno.readTextFile(file), "x");
    assertMatch((await home.run(["grants", "list"])).stdout, /websocket:shared +fs.write/);
    await three.press("C-d");
    assertEquals(await three.exit(), 0);
    await three.shows("Continue with: service chat --chat shared");
  },
});

Deno.test({
  ...needs(
    "service chat goes on when its gateway was killed in the middle of an answer",
    "Linux",
    "tmux",
  ),
  async fn() {
    await using world = await makePortWorld();
    const terminal = await world.open(["chat", "--chat", "shared"], { rows: 50 });
    await terminal.shows("/help for help");
    await terminal.say("slow");
    await terminal.shows(LAST_WORD);
    await terminal.say("later");
    await world.gateway!.kill();
    await terminal.shows("Connection lost");
    world.release();
    await using _again = await world.home.start(["gateway", "--json"]);
    // The turn is begun again.
    await world.server.request(1);
    world.release();
    const done = await terminal.shows("Answer to later");
    // What was cut off, and the answer of the turn that was begun again.
    for (const [word, times] of [["word0 ", 2], [LAST_WORD, 2], ["word59", 1]] as const) {
      assertEquals(done.split(word).length - 1, times, `${word}\n${done}`);
    }
    assert(!done.includes("Connection lost"), done);
    await world.home.run(["stop"]);
    await terminal.shows("Connection lost");
    await terminal.say("never sent");
    await terminal.press("C-c");
    await terminal.edits(/^> never sent/);
    await terminal.press("C-u", "C-d");
    assertEquals(await terminal.exit(), 0);
  },
});
