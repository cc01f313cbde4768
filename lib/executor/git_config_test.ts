import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { needs } from "../../tests/support/needs.ts";
import { isDataConfig, namedPaths, parseGitConfig } from "./git_config.ts";

/** Spellings of one variable that starts a program. */
const EVIL = [
  "[core]\n\tfsmonitor = /p\n",
  "[core]fsmonitor=/p",
  "[CORE] FSMonitor = /p",
  '[core]\n\tfsmoni\\\ntor = x\n[core] fsmonitor = "/p"',
  "[core]\n\tbare = false ; a comment \\\n\tfsmonitor = /p\n",
  "[core]\n\tbare = false # \\\n fsmonitor = /p\n",
  "; \\\n[core]\nfsmonitor = /p",
  "\ufeff[core]\r\nfsmonitor = /p\r\n",
  "[core]\n\tbare = \\\n\\\nfalse\n\tfsmonitor = /p",
  '[remote "a]b"]\n\turl = "x\\"y"\n[core] fsmonitor = /p',
  "[remote.origin]\nurl = ext::sh -c /p",
  '[branch "main"] remote = ext::/p',
  '[remote "o"] uploadpack = /p',
  '[submodule "s"] update = !/p',
  '[includeIf "gitdir:/"] path = /p',
  "[user]\n\tname = a\\\nb\n[core]\n\tpager = /p",
];

Deno.test("isDataConfig() is true of no spelling of a variable that starts a program", () => {
  for (const text of EVIL) {
    const variables = parseGitConfig(text);
    assert(variables === undefined || !isDataConfig(variables), text);
  }
  for (
    const text of [
      "",
      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
      '[remote "origin"]\n\turl = https://x.example/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n' +
      '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
      '[remote "o"]\n\turl = git@x.example:a.git ; \\\n[user]\n\tname = "A \\"B\\" C" # x\n\temail = a@b\n',
    ]
  ) assert(isDataConfig(parseGitConfig(text)!), text);
});

Deno.test("namedPaths() finds what git obeys", () => {
  const text =
    "[core]\n\thooksPath = a b/hooks\n\tfsmonitor = watch\n[alias]\n\tx = !sh 'tools/x' && ./y z\n" +
    '[includeIf "onbranch:x"]\n\tpath = ../c\n[remote "o"]\n\turl = ../src\n';
  assertEquals(namedPaths(parseGitConfig(text)!).map(({ path, how }) => `${how} ${path}`), [
    "folder a b/hooks",
    "word watch",
    "word tools/x",
    "word ./y",
    "include ../c",
  ]);
});

Deno.test({
  ...needs("parseGitConfig() reads what git reads", "git"),
  async fn() {
    const file = await Deno.makeTempFile();
    const piece = fc.constantFrom(
      ...[
        "[core]",
        "[a.B]",
        '[a "b"]',
        '[a "\\"]"]',
        "[",
        "]",
        "\n",
        "\n",
        "\r\n",
        " ",
        "\t",
        "=",
        "= ",
      ],
      ...['"', "\\", "\\\n", "\\n", ";", "#", "Key", "k-1", "v w", "é", "fsmonitor = /p", "x=y"],
    );
    const read = async (text: string) => {
      await Deno.writeTextFile(file, text);
      const { success, stdout } = await new Deno.Command("git", {
        args: ["config", "--no-includes", "-z", "--list", "-f", file],
        clearEnv: true,
        env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
        stderr: "null",
      }).output();
      if (!success) return undefined;
      // A variable without `=` has no line end after its name.
      return new TextDecoder().decode(stdout).split("\0").slice(0, -1)
        .map((one) => one.includes("\n") ? one : `${one}\n`);
    };
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => {
          const text = `[core]\n${pieces.join("")}`;
          const ours = parseGitConfig(text)?.map(({ name, value }) => `${name}\n${value}`);
          const theirs = await read(text);
          // What git refuses may be read; what git reads is read so, or refused. Blanks within a value
          // are blanks to some versions, and stay tabs to others.
          if (theirs === undefined || ours === undefined) return;
          const spaced = (all: string[]) => all.map((one) => one.replace(/[\t\r]/g, " "));
          assertEquals(spaced(ours), spaced(theirs), text);
        }),
        { numRuns: 200 },
      );
      for (const text of EVIL) {
        const ours = parseGitConfig(text)?.map(({ name, value }) => `${name}\n${value}`);
        assertEquals([text, ours], [text, await read(text)]);
      }
    } finally {
      await Deno.remove(file);
    }
  },
});
