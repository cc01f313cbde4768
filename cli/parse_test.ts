import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { ServiceError } from "../lib/base/errors.ts";
import type { Command } from "./command.ts";
import { parseCommand, type Parsed, parseHead } from "./parse.ts";

type Spec = Pick<Command, "args" | "options" | "subcommands" | "defaultSubcommand">;

const ASK: Spec = {
  options: [
    { name: "message", alias: "m", value: "TEXT", summary: "" },
    { name: "file", alias: "f", value: "PATH", repeatable: true, summary: "" },
    { name: "no-stream", summary: "" },
    { name: "yes", alias: "y", summary: "" },
    { name: "quick", alias: "q", summary: "" },
  ],
};

const CONFIG: Spec = {
  options: [],
  subcommands: [
    { name: "get", args: "[KEY]", summary: "" },
    { name: "set", args: "KEY VALUE", summary: "" },
    { name: "check", summary: "" },
    { name: "drop", args: "KEY...", summary: "" },
  ],
};

function parse(spec: Spec, ...args: string[]): Parsed {
  const head = parseHead(args);
  return parseCommand(head.command ?? "?", spec, head);
}

function usageOf(spec: Spec, ...args: string[]): string {
  const error = assertThrows(() => parse(spec, ...args), ServiceError);
  assertEquals(error.code, "usage");
  return error.message;
}

Deno.test("parseCommand() reads every spelling of a value", () => {
  for (
    const args of [["-m", "hi"], ["-mhi"], ["-m=hi"], ["--message", "hi"], ["--message=hi"]]
  ) {
    assertEquals(parse(ASK, "agent", ...args).options, { message: "hi" }, args.join(" "));
  }
  assertEquals(parse(ASK, "agent", "-m", "-").options, { message: "-" });
  assertEquals(parse(ASK, "agent", "-m", "-5 degrees?").options, { message: "-5 degrees?" });
  assertEquals(parse(ASK, "agent", "--message=").options, { message: "" });
  assertEquals(parse(ASK, "agent", "--message=a=b").options, { message: "a=b" });
});

Deno.test("parseCommand() collects a repeatable option in order", () => {
  const { options } = parse(ASK, "agent", "--file", "a", "-fb", "--file=c");
  assertEquals(options, { file: ["a", "b", "c"] });
});

Deno.test("parseCommand() reads flags, also several letters together", () => {
  assertEquals(parse(ASK, "agent", "--no-stream", "-yq").options, {
    "no-stream": true,
    yes: true,
    quick: true,
  });
  assertEquals(parse(ASK, "agent", "-yqmhi").options, { yes: true, quick: true, message: "hi" });
});

Deno.test("parseCommand() takes what follows -- as arguments", () => {
  const spec = { ...ASK, args: "NAME..." };
  assertEquals(parse(spec, "x", "-y", "--", "--file", "-m").args, ["--file", "-m"]);
});

Deno.test("parseCommand() names the option whose value is missing", () => {
  assertStringIncludes(usageOf(ASK, "agent", "-m"), "-m needs a value: -m TEXT");
  assertStringIncludes(usageOf(ASK, "agent", "--file"), "--file needs a value: --file PATH");
  // A value that is itself an option was forgotten; attached, it is meant.
  assertStringIncludes(usageOf(ASK, "agent", "-m", "--json"), "-m needs a value");
  assertStringIncludes(usageOf(ASK, "agent", "-m", "--"), "-m needs a value");
  assertEquals(parse(ASK, "agent", "-m=--json").options, { message: "--json" });
});

Deno.test("parseCommand() refuses what it does not know, with the nearest name", () => {
  assertStringIncludes(usageOf(ASK, "agent", "--mesage", "x"), "did you mean --message?");
  assertStringIncludes(usageOf(ASK, "agent", "--zzzzzzzz"), `Unknown option: "--zzzzzzzz"`);
  assertStringIncludes(usageOf(ASK, "agent", "-z"), `Unknown option: "-z"`);
  assertStringIncludes(usageOf(ASK, "agent", "hi", "-z"), "put -- before it");
  assertStringIncludes(usageOf(ASK, "agent", "--yes=1"), "--yes takes no value");
  assertStringIncludes(usageOf(ASK, "agent", "-m", "a", "-m", "b"), "-m was given twice");
  assertStringIncludes(usageOf(ASK, "agent", "hello"), `"hello": service agent takes no arguments`);
});

Deno.test("parseCommand() reads subcommands and counts their arguments", () => {
  const set = parse(CONFIG, "config", "set", "a.b", "1");
  assertEquals([set.subcommand, set.args], ["set", ["a.b", "1"]]);
  assertEquals(parse(CONFIG, "config", "get").args, []);
  assertEquals(parse(CONFIG, "config").subcommand, undefined);
  assertEquals(parse(CONFIG, "config", "drop", "a", "b", "c").args, ["a", "b", "c"]);
  assertStringIncludes(usageOf(CONFIG, "config", "set", "a"), "needs VALUE: service config set");
  assertStringIncludes(usageOf(CONFIG, "config", "drop"), "needs KEY...");
  assertStringIncludes(usageOf(CONFIG, "config", "get", "a", "b"), `Unexpected argument "b"`);
  assertStringIncludes(usageOf(CONFIG, "config", "chekc"), "did you mean check?");
  assertStringIncludes(usageOf(CONFIG, "config", "zzzzzz"), "it has get, set, check, drop");
});

const THINGS: Spec = {
  options: [{ name: "all", summary: "" }],
  defaultSubcommand: "list",
  subcommands: [
    { name: "list", summary: "", options: [{ name: "limit", value: "N", summary: "" }] },
    { name: "rm", args: "KEY", summary: "", options: [{ name: "yes", alias: "y", summary: "" }] },
  ],
};

Deno.test("parseCommand() takes the options of the subcommand and of the command alone", () => {
  assertEquals(parse(THINGS, "things", "--limit", "3", "list", "--all").options, {
    limit: "3",
    all: true,
  });
  assertEquals(parse(THINGS, "things", "rm", "a", "-y").options, { yes: true });
  assertStringIncludes(
    usageOf(THINGS, "things", "rm", "a", "--limit=3"),
    "service things rm takes no --limit; it is an option of list",
  );
  assertStringIncludes(usageOf(THINGS, "things", "-y"), "service things list takes no --yes");
});

Deno.test("parseCommand() finds the subcommand that was meant", () => {
  const found = (...words: string[]) => parse(THINGS, "things", ...words).subcommand;
  assertEquals(found(), "list");
  assertEquals(found("ls"), "list");
  for (const name of ["rm", "remove", "delete"]) assertEquals(found(name, "a"), "rm");
  assertStringIncludes(usageOf(THINGS, "things", "lst"), "did you mean list?");
});

Deno.test("parseCommand() gives help of the subcommand, also for the word help", () => {
  for (const words of [["rm", "-h"], ["-h", "rm"], ["help", "rm"], ["delete", "--help"]]) {
    const { help, subcommand } = parse(THINGS, "things", ...words);
    assertEquals([help, subcommand], [true, "rm"], words.join(" "));
  }
  for (const words of [["-h"], ["help"], ["help", "nonsense"]]) {
    const { help, subcommand } = parse(THINGS, "things", ...words);
    assertEquals([help, subcommand], [true, undefined], words.join(" "));
  }
});

Deno.test("parseCommand() takes global options before and after the command's name", () => {
  for (
    const args of [
      ["--config", "c.json", "--json", "agent"],
      ["agent", "--json", "--config=c.json"],
      ["--json", "agent", "--config", "c.json"],
    ]
  ) {
    const { globals, options } = parse(ASK, ...args);
    assertEquals(globals, { config: "c.json", lastGood: false, json: true, verbose: false });
    assertEquals(options, {});
  }
  assertEquals(parse(ASK, "agent", "--last-good", "--verbose").globals, {
    config: undefined,
    lastGood: true,
    json: false,
    verbose: true,
  });
});

Deno.test("parseCommand() gives help without arguments that would be needed", () => {
  assertEquals(parse(CONFIG, "config", "set", "-h").help, true);
  assertEquals(parse(CONFIG, "-h", "config", "nonsense").help, true);
  assertEquals(parse(CONFIG, "config", "set", "--version").version, true);
});

Deno.test("parseCommand() either parses or says usage, for any line", () => {
  const word = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom("-m", "--file", "--", "-", "-yq", "--json", "-m=x", "--no-stream", "-h", "--="),
  );
  fc.assert(fc.property(fc.array(word, { maxLength: 8 }), (words) => {
    try {
      const parsed = parse(ASK, "agent", ...words);
      const { message = [], file = [] } = parsed.options;
      const texts = [message, file].flat();
      for (const text of texts) {
        assertEquals(words.some((each) => each.endsWith(String(text))), true);
      }
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "usage") throw error;
    }
  }));
});

Deno.test("parseCommand() gives back any text that was given as a value", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    assertEquals(parse(ASK, "agent", `--message=${text}`).options["message"], text);
  }));
});

Deno.test("parseCommand() repeats nothing of a line whose command takes secrets elsewhere", () => {
  const command = { ...CONFIG, hidesTyped: "Values are piped" };
  const word = fc.tuple(fc.constantFrom("", "-", "--", "-m=", "--json=", "-y", "--x="), fc.nat(99))
    .map(([before, number]) => `${before}hunter2${number}`);
  const line = fc.array(fc.oneof(word, fc.constantFrom("get", "set", "a", "--", "-", "--json")), {
    maxLength: 6,
  });
  fc.assert(fc.property(line, (words) => {
    try {
      parse(command, "config", ...words);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "usage") throw error;
      const said = JSON.stringify({ ...error, message: error.message });
      assertEquals(said.includes("hunter2"), false, said);
    }
  }));
});
