/**
 * A newcomer follows README.md and docs/start.md to the letter: an empty home, every shell command of the
 * pages in its order.
 * It has a network of its own, so that the usual ports are free, and a model server in it.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname } from "@std/path";
import { lockedFlags } from "../../lib/packages/locked_packages.ts";
import { markdownBlocks } from "../support/markdown_blocks.ts";
import { needs, programPath } from "../support/needs.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A command of the page. */
interface Step {
  line: number;
  text: string;
}

/** What can't run here, and why. */
const LEFT_OUT: readonly [pattern: RegExp, why: string][] = [
  [/install\.sh \| sh/, "fetches a release; tests/install_script_test.ts does that"],
  [/task test\b/, "runs every test, this one too"],
  [/service (agent|chat)\s*(#|$)/, "is a chat at a terminal"],
  [/service onboard\s*(#|$)/, "asks at a terminal"],
  [/--url wss:/, "needs another machine"],
  [/mcp test memory/, "needs a tool server of your own"],
  [/mcp serve/, "is started by another program"],
  [/plugins enable telegram/, "needs a bot"],
];

/** Commands that go on until they are stopped, and what they say once they are up. */
const RUNNING = /task (start|serve)\b/;

/** The commands of the page; one that goes on in the next line is joined. */
function stepsOf(page: string): Step[] {
  return markdownBlocks(page).filter(({ language }) => language === "sh").flatMap((block) => {
    const steps: Step[] = [];
    let joined = "";
    for (const [index, text] of block.text.split("\n").entries()) {
      joined += text;
      if (text.endsWith("\\")) {
        joined = joined.slice(0, -1);
        continue;
      }
      if (joined.trim() !== "") steps.push({ line: block.line + index, text: joined });
      joined = "";
    }
    return steps;
  });
}

/** A shell script that runs them, each between marks: `␞<line>`, its output, `␟<exit code>`. */
function scriptOf(steps: readonly Step[]): string {
  const lines = steps.map(({ line, text }) => {
    // What a person puts in the place of "…".
    const typed = quoted(text.replace("…", "sk-of-the-newcomer"));
    return RUNNING.test(text)
      ? `background ${line} ${typed}`
      : /secrets set/.test(text)
      ? `step ${line} ${typed} secret`
      : `step ${line} ${typed}`;
  });
  return `
set -m
step() {
  printf '\\036%s\\n' "$1"
  eval "$2" < "$HOME/\${3:-nothing}" 2>&1
  printf '\\037%s\\n' $?
}
background() {
  printf '\\036%s\\n' "$1"
  stop
  eval "$2" < /dev/null > "$HOME/log" 2>&1 &
  running=$!
  for _ in $(seq 300); do
    grep -q 'Try it:' "$HOME/log" && break
    kill -0 $running 2> /dev/null || break
    sleep 0.2
  done
  cat "$HOME/log"
  grep -q 'Try it:' "$HOME/log"
  printf '\\037%s\\n' $?
}
stop() {
  [ -z "$running" ] && return
  kill -- -$running; wait $running; running=
}
: > "$HOME/nothing"
printf 'value-of-a-secret' > "$HOME/secret"
deno run -A -q --cached-only ${
    lockedFlags().join(" ")
  } tests/fakes/model_server.ts --port 0 --text hello --delay-ms 1 > "$HOME/model" &
model=$!
until [ -s "$HOME/model" ]; do sleep 0.1; done
export OPENAI_BASE_URL=$(head -1 "$HOME/model")
${lines.join("\n")}
stop
kill $model
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

Deno.test({
  ...needs(
    "README.md and docs/start.md work to the letter on an empty home",
    "bubblewrap",
    "bash",
    "git",
    "curl",
  ),
  async fn() {
    const pages = await Promise.all(
      ["README.md", "docs/start.md"].map((name) => Deno.readTextFile(ROOT + name)),
    );
    const page = pages.join("\n");
    // The page says in prose what serves the HTTP API, before the request to it.
    const steps = stepsOf(page).flatMap((step): Step[] =>
      step.text.startsWith("curl ")
        ? [{ line: step.line - 1, text: "deno task serve" }, step]
        : [step]
    );
    for (const [pattern, why] of LEFT_OUT) {
      assert(steps.some(({ text }) => pattern.test(text)), `nothing ${why}: ${pattern}`);
    }
    const possible = steps.filter(({ text }) => !LEFT_OUT.some(([pattern]) => pattern.test(text)));
    assert(possible.length > 15);

    const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "newcomer-" }));
    try {
      // As npx is, once it has fetched that version.
      await Deno.mkdir(`${home}/bin`);
      await Deno.writeTextFile(
        `${home}/bin/npx`,
        '#!/bin/sh\n[ "$1 $2" = "-y deno@2.9.6" ] || exit 64\nshift 2\nexec deno "$@"\n',
        { mode: 0o755 },
      );
      const { stdout, stderr } = await new Deno.Command(programPath("bubblewrap"), {
        args: [
          ...["--unshare-user", "--unshare-net", "--unshare-pid", "--die-with-parent"],
          ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"],
          ...[programPath("bash"), "-c", scriptOf(possible)],
        ],
        cwd: ROOT,
        clearEnv: true,
        env: {
          HOME: home,
          PATH: `${home}/bin:${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`,
          DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
          NO_COLOR: "1",
        },
        stdin: "null",
        signal: AbortSignal.timeout(240_000),
      }).output();
      const text = new TextDecoder();
      const said = text.decode(stdout);
      // deno-lint-ignore no-control-regex
      const ends = [...said.matchAll(/\x1e(\d+)\n([^\x1e\x1f]*)\x1f(\d+)\n/g)];
      const failed = ends.filter(([, , , code]) => code !== "0").map(([, line, output, code]) =>
        `line ${line}, exit ${code}: ${
          possible.find((one) => `${one.line}` === line)!.text
        }\n${output}`
      );
      assertEquals(failed, []);
      assertEquals(ends.length, possible.length, said + text.decode(stderr));
      const saidBy = (command: string) =>
        ends.find(([, line]) =>
          possible.find((one) => `${one.line}` === line)!.text.includes(command)
        )![2]!;
      assertStringIncludes(
        saidBy("onboard --yes"),
        "Key: kept encrypted as the secret OPENAI_API_KEY",
      );
      assertStringIncludes(saidBy("curl "), "hello");
      // The shell that had the key in its environment is gone.
      const config = JSON.parse(await Deno.readTextFile(`${home}/.service/config.json`));
      assertEquals(config.providers.openai.apiKey, "${secret:OPENAI_API_KEY}");
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  },
});
