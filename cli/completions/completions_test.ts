import { assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import type { Command } from "../command.ts";
import type { CommandEntry } from "../commands.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { loadShellCommands, type ShellCommand } from "./shell_tables.ts";
import { zshScript } from "./zsh.ts";

const NASTY = `It's [a] "test": $HOME \`x\` \\ (y)`;

function entry(name: string, command: Partial<Command>): CommandEntry {
  return {
    name,
    group: "Chat",
    summary: NASTY,
    load: () =>
      Promise.resolve({
        default: {
          description: "",
          examples: [],
          options: [],
          run: () => Promise.reject(new Error("ran")),
          ...command,
        },
      }),
  };
}

function shellCommands(): Promise<ShellCommand[]> {
  return loadShellCommands([
    entry("agent", {
      options: [
        { name: "message", alias: "m", value: "TEXT", summary: NASTY },
        { name: "file", alias: "f", value: "PATH", repeatable: true, summary: NASTY },
        { name: "no-stream", summary: NASTY },
      ],
    }),
    entry("sessions", {
      subcommands: [
        {
          name: "list",
          summary: NASTY,
          options: [{ name: "limit", alias: "n", value: "N", summary: "" }],
        },
        { name: "show", args: "KEY", summary: "" },
      ],
    }),
    entry("serve", {}),
  ]);
}

/** Runs a shell on a file. */
async function shell(
  name: string,
  script: string,
  args: string[],
  cwd?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, script);
    const command = new Deno.Command(name, { args: [...args, file], cwd, stdin: "null" });
    const { code, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } finally {
    await Deno.remove(file);
  }
}

/** What bash offers for the last of these words, sorted. */
async function complete(...words: string[]): Promise<string[]> {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/notes one.md`, "");
    await Deno.writeTextFile(`${dir}/note.txt`, "");
    const script = `${bashScript(await shellCommands())}
COMP_WORDS=(service ${words.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${words.length}
_service
if ((\${#COMPREPLY[@]})); then printf '%s\\n' "\${COMPREPLY[@]}"; fi`;
    const { code, stdout, stderr } = await shell("bash", script, ["--norc"], dir);
    assertEquals([code, stderr], [0, ""]);
    return stdout.split("\n").filter((line) => line !== "").toSorted();
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test({
  ...needs("bashScript() is accepted by bash", "bash"),
  async fn() {
    const checked = await shell("bash", bashScript(await shellCommands()), ["-n"]);
    assertEquals(checked, { code: 0, stdout: "", stderr: "" });
  },
});

Deno.test({
  ...needs("bashScript() completes commands, subcommands, options and paths", "bash"),
  async fn() {
    const globals = [
      ...["--config", "--help", "--json", "--last-good", "--verbose", "--version", "-V", "-h"],
    ];
    assertEquals(await complete(""), ["agent", "serve", "sessions"]);
    assertEquals(await complete("se"), ["serve", "sessions"]);
    assertEquals(await complete("-"), globals);
    assertEquals(await complete("sessions", ""), ["list", "show"]);
    assertEquals(await complete("sessions", "show", ""), []);
    assertEquals(await complete("sessions", "list", "--li"), ["--limit"]);
    assertEquals(await complete("sessions", "show", "--li"), []);
    assertEquals(await complete("sessions", "show", "--js"), ["--json"]);
    assertEquals(await complete("sessions", "--limit", "3", "l"), ["list"]);
    assertEquals(await complete("sessions", "--limit", "="), []);
    assertEquals(
      await complete("agent", "-"),
      [...globals, "--file", "--message", "--no-stream", "-f", "-m"].toSorted(),
    );
    // The value of an option is no command, and only a path is completed with files.
    assertEquals(await complete("agent", "-m", ""), []);
    assertEquals(await complete("--config", "x", "ag"), ["agent"]);
    assertEquals(await complete("agent", "--file", "no"), ["note.txt", "notes one.md"]);
    assertEquals(await complete("agent", "--file", "=", "notes"), ["notes one.md"]);
    assertEquals(await complete("agent", "--file", "="), ["note.txt", "notes one.md"]);
    assertEquals(await complete("serve", ""), []);
    assertEquals(await complete("nonsense", ""), []);
  },
});

Deno.test({
  ...needs("zshScript() is accepted by zsh", "zsh"),
  async fn() {
    const checked = await shell("zsh", zshScript(await shellCommands()), ["-f", "-n"]);
    assertEquals(checked, { code: 0, stdout: "", stderr: "" });
  },
});

Deno.test({
  ...needs("fishScript() is accepted by fish", "fish"),
  async fn() {
    const checked = await shell("fish", fishScript(await shellCommands()), ["--no-execute"]);
    assertEquals(checked, { code: 0, stdout: "", stderr: "" });
  },
});

Deno.test("zshScript() names options with their values, and quotes every summary", async () => {
  const script = zshScript(await shellCommands());
  assertStringIncludes(script, `'(--message -m)'{--message=,-m+}'[It'\\''s \\[a\\] "test"\\:`);
  assertStringIncludes(script, `'*'{--file=,-f+}'`);
  assertStringIncludes(script, ":PATH:_files'");
  assertStringIncludes(script, `'1:subcommand:((list\\:"It'\\''s [a] \\"test\\"\\:`);
});

Deno.test("fishScript() names options with their values, and quotes every summary", async () => {
  const lines = fishScript(await shellCommands()).split("\n");
  const quoted = `'It\\'s [a] "test": $HOME \`x\` \\\\ (y)'`;
  for (
    const line of [
      `complete -c service -n '__fish_use_subcommand' -a agent -d ${quoted}`,
      `complete -c service -n '__fish_seen_subcommand_from agent' -s m -l message -x -d ${quoted}`,
      `complete -c service -n '__fish_seen_subcommand_from agent' -s f -l file -r -F -d ${quoted}`,
      `complete -c service -n '__fish_seen_subcommand_from sessions; and not ` +
      `__fish_seen_subcommand_from list show' -a list -d ${quoted}`,
      `complete -c service -n '__fish_seen_subcommand_from sessions; and ` +
      `__fish_seen_subcommand_from list' -s n -l limit -x -d ''`,
      `complete -c service -s h -l help -d 'Show help'`,
    ]
  ) assertEquals(lines.includes(line), true, line);
});
