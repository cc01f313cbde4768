import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "./command.ts";
import type { CommandEntry } from "./commands.ts";
import { dispatch } from "./dispatch.ts";
import { type MemoryOutput, memoryOutput } from "./testing/memory_output.ts";
import { VERSION } from "./version.ts";

/** Runs a line against one command, `greet`, that does this. */
async function runLine(
  line: string[],
  run: Command["run"] = () => Promise.resolve(EXIT.done),
  memory: MemoryOutput = memoryOutput(),
): Promise<{ code: ExitCode; stdout: string; stderr: string; loaded: number }> {
  let loaded = 0;
  const command: Command = {
    description: "Greets somebody.",
    examples: ["service greet Ada"],
    options: [{ name: "loud", alias: "l", summary: "Louder" }],
    args: "[NAME]",
    run,
  };
  const commands: CommandEntry[] = [{
    name: "greet",
    aliases: ["hello"],
    group: "Chat",
    summary: "Greet",
    load: () => {
      loaded++;
      return Promise.resolve({ default: command });
    },
  }];
  const code = await dispatch(line, { commands, out: memory.out });
  return { code, stdout: memory.stdout.text, stderr: memory.stderr.text, loaded };
}

Deno.test("dispatch() hands a command what was parsed and returns its exit code", async () => {
  let seen: Invocation | undefined;
  const { code } = await runLine(["--json", "greet", "Ada", "-l"], (invocation) => {
    seen = invocation;
    return Promise.resolve(EXIT.refused);
  });
  assertEquals(code, EXIT.refused);
  assertEquals([seen?.args, seen?.options, seen?.globals.json], [["Ada"], { loud: true }, true]);
});

Deno.test("dispatch() prints the version without loading a command", async () => {
  assertEquals(await runLine(["--version"]), {
    code: 0,
    stdout: `service ${VERSION}\n`,
    stderr: "",
    loaded: 0,
  });
  assertEquals((await runLine(["--json", "--version"])).stdout, `{"version":"${VERSION}"}\n`);
  assertEquals((await runLine(["greet", "--version"])).stdout, `service ${VERSION}\n`);
});

Deno.test("dispatch() prints help that was asked for to standard output", async () => {
  for (const line of [["-h"], ["--help"], ["help"]]) {
    const { code, stdout, stderr, loaded } = await runLine(line);
    assertEquals([code, stderr, loaded], [0, "", 0]);
    assertStringIncludes(stdout, "Chat:\n  greet  Greet\n");
  }
  for (const line of [["greet", "-h"], ["help", "greet"], ["-h", "greet"]]) {
    const { code, stdout } = await runLine(line);
    assertEquals(code, 0);
    assertStringIncludes(stdout, "Usage: service greet [NAME] [options]");
  }
});

Deno.test("dispatch() says what there is, as a usage error, when no command was given", async () => {
  const { code, stdout, stderr } = await runLine([]);
  assertEquals([code, stdout], [EXIT.usage, ""]);
  assertStringIncludes(stderr, "Chat:");
});

Deno.test("dispatch() suggests the nearest command and exits with 2", async () => {
  const { code, stdout, stderr, loaded } = await runLine(["gret"]);
  assertEquals([code, stdout, loaded], [EXIT.usage, "", 0]);
  assertEquals(
    stderr,
    `error: Unknown command: "gret"; did you mean greet?\n  See: service --help\n`,
  );
});

Deno.test("dispatch() tells an error, what to do next, and its exit code", async () => {
  const fail = () => Promise.reject(new ServiceError("provider_error", "The provider said 500"));
  const plain = await runLine(["greet"], fail);
  assertEquals(plain.code, EXIT.provider);
  assertEquals(plain.stdout, "");
  assertMatch(plain.stderr, /^error: The provider said 500\n {2}Check .*service doctor\n$/);

  const json = await runLine(["greet", "--json"], fail);
  assertEquals(json.code, EXIT.provider);
  const { error } = JSON.parse(json.stderr);
  assertEquals([error.code, error.message], ["provider_error", "The provider said 500"]);
});

Deno.test("dispatch() prints the error of a line it cannot read as JSON when --json stands in it", async () => {
  const { code, stderr } = await runLine(["greet", "--lod", "--json"]);
  assertEquals(code, EXIT.usage);
  assertEquals(JSON.parse(stderr).error.code, "usage");
  const text = await runLine(["greet", "a", "b", "--", "--json"]);
  assertMatch(text.stderr, /^error: /);
});

Deno.test("dispatch() shows where an unexpected error happened only with --verbose", async () => {
  const fail = () => Promise.reject(new TypeError("oops"));
  const quiet = await runLine(["greet"], fail);
  assertEquals(quiet.code, EXIT.failed);
  assertMatch(quiet.stderr, /^error: oops\n {2}.*--verbose/);
  assertMatch((await runLine(["greet", "--verbose"], fail)).stderr, /TypeError: oops\n\s+at /);
});

Deno.test("dispatch() ends quietly when the reader of the output has gone", async () => {
  const memory = memoryOutput();
  memory.stdout.failures.push(new Deno.errors.BrokenPipe("EPIPE"));
  const run = async ({ out }: Invocation) => {
    await out.stream("lines");
    return EXIT.failed;
  };
  assertEquals(await runLine(["greet"], run, memory), {
    code: EXIT.done,
    stdout: "",
    stderr: "",
    loaded: 1,
  });
});

Deno.test("dispatch() ends a usage error with the help to read on", async () => {
  for (
    const [line, help] of [
      [["--nonsense"], "service --help"],
      [["greet", "--lod"], "service greet --help"],
      [["hello", "a", "b"], "service greet --help"],
    ] as const
  ) {
    const { code, stderr } = await runLine([...line]);
    assertEquals([code, stderr.split("\n").slice(-2)], [EXIT.usage, [`  See: ${help}`, ""]]);
  }
  const { stderr } = await runLine(["greet", "--lod", "--json"]);
  assertEquals(JSON.parse(stderr).error.next, "See: service greet --help");
});

Deno.test("dispatch() runs a command by its other name, and -V prints the version", async () => {
  assertEquals((await runLine(["hello"])).code, EXIT.done);
  assertEquals((await runLine(["-V"])).stdout, `service ${VERSION}\n`);
});
