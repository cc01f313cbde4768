import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type RecordedRequest, startModelServer } from "./fakes/model_server.ts";
import type { Behaviour } from "./fakes/model_behaviour.ts";
import { makeHome, type TestHome } from "./support/home.ts";
import { needs } from "./support/needs.ts";
import { openTerminal } from "./support/terminal.ts";

const MARKDOWN = `# Findings

Some **bold** words and \`code\` that are followed by so many others that the line has to be wrapped.

- first item
- second item

| Name | Value |
|---|--:|
| alpha | 1 |

\`\`\`ts
const answer = 42; // why
\`\`\`

The end.`;

/** A model that does what the last message says. */
async function answer({ body }: RecordedRequest): Promise<Behaviour> {
  const { role, content } = body.messages.at(-1);
  const said = typeof content === "string" ? content : JSON.stringify(content);
  if (role === "tool") return { text: `The tool said: ${said.slice(0, 20)}` };
  const call = /^call (\w+) (\{.*\})/.exec(said);
  if (call !== null) return { calls: [{ tool: call[1]!, args: JSON.parse(call[2]!) }] };
  if (said.includes("wait")) await new Promise((resolve) => setTimeout(resolve, 2_500));
  if (said.includes("markdown")) return { text: MARKDOWN.match(/[^]{1,9}/g)!, delayMs: 15 };
  if (said.includes("cut off")) return { text: "Half of an answer", delayMs: 60, endAfter: 4 };
  if (said.includes("slow")) {
    return { text: Array.from({ length: 60 }, (_, at) => `word${at} `), delayMs: 100 };
  }
  return { text: `Answer to ${said.slice(0, 60)}` };
}

async function world() {
  const server = startModelServer({ script: answer });
  const home = await makeHome({
    agent: { model: "local/fake", presets: { swift: { model: "local/swift" } } },
    providers: { local: { baseUrl: server.baseUrl } },
    channels: { websocket: { enabled: true } },
  });
  return {
    server,
    home,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A gateway, or none: a chat is the same with both. */
async function maybeGateway(home: TestHome, wanted: boolean): Promise<AsyncDisposable> {
  if (wanted) return await home.start(["gateway", "--json"]);
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}

for (const gateway of [false, true]) {
  const where = gateway ? "with a gateway" : "without a gateway";

  Deno.test({
    ...needs(`what is typed while an answer streams stays in the line, ${where}`, "Linux", "tmux"),
    async fn() {
      await using all = await world();
      const { home } = all;
      await using _gateway = await maybeGateway(home, gateway);
      await using terminal = await openTerminal(home, ["agent", "-s", "work"]);
      const banner = await terminal.shows("/help for help");
      assertMatch(banner, /model +local\/fake\n/);
      assertMatch(banner, /folder +~\/home\/workspace\n/);
      assertMatch(banner, /session +work\n/);

      await terminal.say("wait, slow");
      await terminal.shows(/Thinking… \([1-9]s/);
      await terminal.shows("word4");
      await terminal.type("typed ahead");
      await terminal.shows(/^> typed ahead$/m);
      const streaming = await terminal.shows("word12");
      assertEquals(streaming.split("typed ahead").length, 2, "it stands there once");
      assertMatch(streaming, /word10 word11/);
      await terminal.press("C-u");
      await terminal.say("/status");
      await terminal.shows("Turns: 1 running, 0 waiting");
      await terminal.say("later");
      await terminal.shows("queued: later");

      await terminal.press("C-c");
      await terminal.shows("Stopped");
      // What waited is given back, to be sent or changed.
      await terminal.edits(/^> later/);
      await terminal.press("Enter");
      await terminal.shows("Answer to later");

      await terminal.say("slow again");
      await terminal.shows(/slow again[^]*word3/);
      await terminal.say("/stop");
      await terminal.shows(/Stopped[^]*Stopped/);
      await terminal.press("C-c");
      await terminal.shows("Ctrl-C again leaves");
      await terminal.press("C-c");
      assertEquals(await terminal.exit(), 130);
    },
  });

  Deno.test({
    ...needs(`approvals are a prompt with every answer, ${where}`, "Linux", "tmux"),
    async fn() {
      await using all = await world();
      const { home } = all;
      await using _gateway = await maybeGateway(home, gateway);
      const token = (await home.run(["tokens", "issue", "--scopes", "approve"])).stdout.trim();
      await using terminal = await openTerminal(home, ["agent", "-s", "talk"], { rows: 50 });
      await terminal.shows("/help for help");
      const file = `${home.dir}/outside.txt`;
      const write = (content: string) =>
        `call write_file ${JSON.stringify({ path: file, content })}`;

      await terminal.say(write("one"));
      await terminal.shows("Press a number");
      await terminal.shows(`fs.write of ${file}`);
      if (gateway) {
        // A guest of the gateway answers with a token, which is asked for once.
        await new Promise((resolve) => setTimeout(resolve, 700));
        await terminal.press("1");
        await terminal.shows("service tokens issue --scopes approve");
        await terminal.type(token);
        await terminal.press("Enter");
      }
      const prompt = await terminal.shows("5. Deny with a reason");
      for (const choice of ["1. Allow once", "2. Allow for this session", "3. Always", "4. Deny"]) {
        assertStringIncludes(prompt, choice);
      }
      assert(!prompt.includes(token), "a token is not shown");
      await new Promise((resolve) => setTimeout(resolve, 700));
      await terminal.press("2");
      await terminal.shows("The tool said: ");
      assertEquals(await Deno.readTextFile(file), "one");

      await terminal.say(write("two"));
      await terminal.shows("allowed for this session");
      await terminal.shows(/The tool said: [^]*The tool said: /);
      assertEquals(await Deno.readTextFile(file), "two");

      // A line that was typed ahead answers nothing.
      const other = `${home.dir}/other.txt`;
      await terminal.say(`call read_file ${JSON.stringify({ path: file })}`);
      await terminal.type("12");
      await terminal.shows("Send or clear the line below");
      await terminal.edits(/^> 12/);
      await terminal.press("C-u");
      await new Promise((resolve) => setTimeout(resolve, 700));
      await terminal.press("3");
      await terminal.shows("A grant for exactly this was added");
      await terminal.shows(/(The tool said: [^]*){3}/);
      assertStringIncludes((await home.run(["grants", "list"])).stdout, file);

      await terminal.say(`call write_file ${JSON.stringify({ path: other, content: "x" })}`);
      await terminal.shows(`fs.write of ${other}`);
      await new Promise((resolve) => setTimeout(resolve, 700));
      await terminal.press("5");
      await terminal.shows("Reason:");
      await terminal.say("not there");
      await terminal.shows("not there");
      await terminal.shows("Blocked in this session. Unblock it with:");
      await terminal.shows("service blocks clear cli:talk fs.write");
      await terminal.shows(/(The tool said: [^]*){4}/);
      await terminal.press("C-d");
      assertEquals(await terminal.exit(), 0);
    },
  });
}

Deno.test({
  ...needs("an answer is rendered, at any width and while that changes", "Linux", "tmux"),
  async fn() {
    await using all = await world();
    const { home } = all;
    await using terminal = await openTerminal(home, ["agent", "-s", "talk"], { columns: 60 });
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

    await terminal.say("slow");
    await terminal.shows(/> slow[^]*word5/);
    await terminal.resize(20, 20);
    await terminal.shows(/word1?\d word1?\d\n/);
    await terminal.type("narrow line that is long");
    await terminal.shows(/^> narrow line that *\n {2}is long/m);
    await terminal.resize(100, 30);
    const wide = await terminal.shows("word59");
    assertEquals(wide.split("word59").length, 2, wide);
    assertEquals(wide.split("word31").length, 2, wide);
    await terminal.edits(/^> narrow line that is long/);
  },
});

Deno.test({
  ...needs("a chat is plain where it is piped or colours are not wanted", "Linux", "tmux"),
  async fn() {
    await using all = await world();
    const { home } = all;
    await using plain = await openTerminal(home, ["agent", "-s", "talk"], {
      env: { NO_COLOR: "1" },
    });
    await plain.shows("/help for help");
    await plain.say("markdown");
    const screen = await plain.shows("The end.");
    assertMatch(screen, /Some \*\*bold\*\* words/);
    // deno-lint-ignore no-control-regex
    assert(!/\x1b\[/.test(await plain.screen({ colors: true })));
    await plain.press("C-d");
    await plain.exit();

    const out = `${home.dir}/out.txt`;
    await using piped = await openTerminal(home, ["agent", "-s", "other"], {
      redirect: `> ${out}`,
    });
    await piped.shows("/help for help");
    await piped.say("markdown");
    while (!(await Deno.readTextFile(out)).endsWith("The end.\n")) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await piped.say("/exit");
    await piped.exit();
    assertEquals(await Deno.readTextFile(out), `${MARKDOWN}\n`);

    await using closed = await openTerminal(home, ["agent", "-s", "third"], {
      redirect: "| head -c 1 > /dev/null",
    });
    await closed.shows("/help for help");
    await closed.say("slow");
    assertEquals(await closed.exit(), 0);
  },
});

Deno.test({
  ...needs(
    "Tab completes, Ctrl-R searches, @path attaches, and a session is resumed",
    "Linux",
    "tmux",
  ),
  async fn() {
    await using all = await world();
    const { home, server } = all;
    await Deno.writeTextFile(`${home.dir}/notes for you.md`, "the content of notes");
    await Deno.writeTextFile(`${home.dir}/numbers.txt`, "1 2 3");
    await Deno.mkdir(`${home.dir}/home`, { recursive: true });
    // A disk that is full under the history costs no more than the history.
    await Deno.symlink("/dev/full", `${home.dir}/home/history`);
    {
      await using terminal = await openTerminal(home, ["agent", "--verbose", "-s", "talk"]);
      await terminal.shows("/help for help");
      await terminal.type("/sta");
      await terminal.press("Tab");
      await terminal.shows(/^> \/status *$/m);
      await terminal.press("C-u");
      await terminal.say("/statu");
      await terminal.shows('Unknown command: "/statu"; did you mean /status?');
      await terminal.press("C-u");
      await terminal.type("/model sw");
      await terminal.press("Tab");
      await terminal.shows(/^> \/model swift *$/m);
      await terminal.press("C-u");
      await terminal.type("read @n");
      await terminal.press("Tab");
      await terminal.shows('@"notes for you.md"  @numbers.txt');
      await terminal.type("u");
      await terminal.press("Tab");
      await terminal.shows(/^> read @numbers.txt *$/m);
      await terminal.press("Enter");
      await terminal.shows("attached numbers.txt (5 B)");
      await terminal.shows("Answer to");
      const { body } = await server.request(0);
      assertStringIncludes(JSON.stringify(body.messages), "1 2 3");

      await terminal.say("cut off");
      await terminal.type("typed meanwhile");
      await terminal.shows("Half of an");
      const failed = await terminal.shows("error: the answer of local/fake was cut off");
      // The gateway's log has lines of its own.
      assertMatch(failed, /^\d{4}-\d\d-\d\dT\S+ warning A turn failed/m);
      await terminal.edits(/^> typed meanwhile\s*$/);
      await terminal.press("C-u");
      await terminal.say("/model swift");
      await terminal.shows("Model from the next turn on");
      await terminal.press("C-r");
      await terminal.type("numb");
      await terminal.shows("history: numb");
      await terminal.press("Enter");
      await terminal.shows(/^> read @numbers.txt/m);
      await terminal.press("C-u");
      await terminal.say("/exit");
      assertEquals(await terminal.exit(), 0);
    }
    await using terminal = await openTerminal(home, ["agent", "-s", "talk"], {
      columns: 20,
      rows: 24,
    });
    const resumed = await terminal.shows("Earlier in this");
    assertStringIncludes(resumed, "local/swift (preset");
    await terminal.shows("> read @numbers.txt");
    assert(resumed.split("\n").every((line) => line.length <= 20));
    // The home is removed once nobody writes to it.
    await terminal.say("/exit");
    assertEquals(await terminal.exit(), 0);
  },
});

Deno.test({
  ...needs(
    "two terminals in a chat see each other, also when the gateway comes back",
    "Linux",
    "tmux",
  ),
  async fn() {
    await using all = await world();
    const { home } = all;
    {
      await using _gateway = await home.start(["gateway", "--json"]);
      await using one = await openTerminal(home, ["agent", "-s", "both"]);
      await using two = await openTerminal(home, ["agent", "-s", "both"]);
      await Promise.all([one.shows("/help for help"), two.shows("/help for help")]);
      await one.say("from the first");
      await two.shows("> (elsewhere) from the first");
      await two.shows("Answer to from the first");
      await two.say("slow");
      await one.shows("> (elsewhere) slow");
      await one.shows("word3");

      await _gateway.kill();
      await one.shows("waiting for it to come back");
      await two.shows("error: The service stopped under the turn");
      await one.say("sent while away");
      await one.shows("queued: sent while away");
      await using _again = await home.start(["gateway", "--json"]);
      await one.shows("Connected again");
      await one.shows("Answer to sent while away");
      await two.shows("> (elsewhere) sent while away");
      await one.press("C-d");
      await two.press("C-d");
      assertEquals([await one.exit(), await two.exit()], [0, 0]);
    }
  },
});

Deno.test({
  ...needs("service chat is the same chat over the WebSocket port", "Linux", "tmux"),
  async fn() {
    await using all = await world();
    const { home } = all;
    await using gateway = await home.start(["gateway", "--json"]);
    const args = ["chat", "--url", gateway.wsUrl!, "--chat", "shared"];
    await using one = await openTerminal(home, args);
    await using two = await openTerminal(home, args);
    await Promise.all([one.shows("/help for help"), two.shows("/help for help")]);
    await one.say("slow");
    await one.shows("word2");
    await one.type("ahead");
    await two.shows("word4");
    await one.edits(/^> ahead/);
    await one.press("C-u");
    await one.say("/status");
    await one.shows("Turns: 1 running, 0 waiting");
    await one.press("C-c");
    await one.shows("Stopped");
    await two.shows("Stopped");
    await one.press("C-d");
    assertEquals(await one.exit(), 0);

    // With a token of its own it shows what was said, and answers approvals.
    const scopes = ["tokens", "issue", "--scopes", "read,chat,approve"];
    const token = (await home.run(scopes)).stdout.trim();
    await using three = await openTerminal(home, args, { env: { SERVICE_TOKEN: token }, rows: 50 });
    await three.shows("Earlier in this session");
    await three.shows("> slow");
    const file = `${home.dir}/outside.txt`;
    await three.say(`call write_file ${JSON.stringify({ path: file, content: "x" })}`);
    await three.shows("1. Allow once");
    await new Promise((resolve) => setTimeout(resolve, 700));
    await three.press("1");
    await three.shows("The tool said: ");
    await two.shows("The tool said: ");
    assertEquals(await Deno.readTextFile(file), "x");
  },
});
