import { assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { ServiceError } from "../../lib/base/errors.ts";
import type { Invocation } from "../command.ts";
import { operationSubcommand, typedInput } from "./operation_subcommand.ts";

const RUN = {
  summary: "Run a job",
  scope: "operate" as const,
  command: "jobs run",
  input: z.object({
    id: z.string().max(3, "at most 3 characters"),
    limit: z.int("a whole number").max(9, "a whole number up to 9").optional().describe("Rows."),
    request_id: z.string().describe("Key.").default(""),
    tag: z.array(z.string()).optional().describe("Tag"),
    dry: z.boolean().optional().describe("Only look"),
    secret: z.string().optional(),
  }),
  output: z.object({}),
  route: { method: "POST" as const, path: "/jobs/:id/run" },
};

Deno.test("operationSubcommand() has an argument for each field of the path, and an option for others", () => {
  const yes = { name: "yes", summary: "Without asking" };
  assertEquals(operationSubcommand(RUN, { without: ["secret"], options: [yes] }), {
    name: "run",
    summary: "Run a job",
    args: "ID",
    options: [
      { name: "limit", alias: "n", value: "N", summary: "Rows" },
      { name: "request-id", value: "ID", summary: "Key" },
      { name: "tag", value: "TAG", repeatable: true, summary: "Tag" },
      { name: "dry", summary: "Only look" },
      yes,
    ],
  });
});

Deno.test("typedInput() reads fields by the names that they have on the command line", () => {
  const differences = {
    names: { request_id: "request" },
    meaning: { secret: (typed: string) => `the ${typed}` },
  };
  const named = { ...RUN, args: ["id", "secret"] };
  const { args, options } = operationSubcommand(named, differences);
  assertEquals([args, options!.map(({ name }) => name)], ["ID [SECRET]", [
    "limit",
    "request",
    "tag",
    "dry",
  ]]);
  const typed = { args: ["a", "b"], options: { request: "7" } };
  assertEquals(typedInput(named, typed, differences), {
    id: "a",
    secret: "the b",
    request_id: "7",
  });
});

Deno.test("typedInput() says what is missing", () => {
  const needed = { ...RUN, input: RUN.input.extend({ limit: z.int("a whole number") }) };
  const error = assertThrows(() => typedInput(needed, { args: ["a"], options: {} }), ServiceError);
  assertEquals(error.message, "Option --limit is missing; expected a whole number");
});

Deno.test("typedInput() reads fields, and names what is wrong as it was typed", () => {
  const read = (id: string, options: Invocation["options"] = {}) =>
    typedInput(RUN, { args: [id], options });
  assertEquals(
    read("a", { limit: "7", "request-id": "7", tag: ["x"], dry: true, yes: true }),
    { id: "a", limit: 7, request_id: "7", tag: ["x"], dry: true },
  );
  for (
    const [id, options, message, param] of [
      ["a", { limit: "10" }, "Option --limit is 10; expected a whole number up to 9", "limit"],
      ["a", { limit: "x" }, 'Option --limit is "x"; expected a whole number', "limit"],
      ["a", { limit: "-1" }, 'Option --limit is "-1"; expected a whole number', "limit"],
      ["abcd", {}, 'ID is "abcd"; expected at most 3 characters', "ID"],
    ] as const
  ) {
    const error = assertThrows(() => read(id, options), ServiceError);
    assertEquals([error.code, error.message, error.details.param], ["usage", message, param]);
  }
});
