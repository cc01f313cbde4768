import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { needs } from "../../tests/support/needs.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import command from "./onboard.ts";

Deno.test({
  ...needs("onboard is a usage error without a terminal and without --yes", {
    what: "a standard input that is no terminal",
    isThere: !Deno.stdin.isTerminal(),
  }),
  async fn() {
    const { out } = memoryOutput();
    const globals = { lastGood: false, json: false, verbose: false };
    const error = await assertRejects(
      () => command.run({ args: [], options: {}, globals, out }),
      ServiceError,
      "no terminal to ask at: add --yes",
    );
    assertEquals(error.code, "usage");
  },
});
