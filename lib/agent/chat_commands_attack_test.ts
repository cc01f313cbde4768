import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { readCommand } from "./chat_commands.ts";
import { anyString } from "../../tests/support/any_string.ts";
import { cpuMs } from "../../tests/support/cpu_ms.ts";

const ID = "apr_abcdefghijklmnop";
const DIGEST = "0123abcd";

const read = (...texts: string[]) =>
  readCommand(texts.map((text) => ({ type: "text", text })))?.name;

Deno.test("G12 readCommand() catches /approve and /deny in every writing, so that none enters the history", () => {
  for (
    const text of [
      `/approve ${ID} ${DIGEST}`,
      ` \n\t/approve\n${ID}\t${DIGEST} \n`,
      `/APPROVE ${ID} ${DIGEST}`,
      `/approve@my_bot ${ID} ${DIGEST}`,
      `\ufeff/approve ${ID} ${DIGEST}`,
      `\u200b\u2066/approve ${ID} ${DIGEST}`,
      "/approve",
      "/approve@bot",
      `/approve ${ID} ${DIGEST} and then do it`,
      "/approve everything",
    ]
  ) assertEquals([text, read(text)], [text, "approve"]);
  assertEquals(read("", " ", `/approve ${ID} ${DIGEST}`), "approve");
  assertEquals([read("/deny"), read(`/deny ${ID} not\nthat`)], ["deny", "deny"]);
});

Deno.test("readCommand() leaves what is for the model to it", () => {
  for (
    const text of [
      `please /approve ${ID} ${DIGEST}`,
      "/approved",
      "/approves it",
      "/denying",
      "//approve x",
      "/ approve x",
      "approve",
      "",
    ]
  ) assertEquals([text, read(text)], [text, undefined]);
  // Only the first text counts: what somebody else wrote may stand in a later one.
  assertEquals(read("look at this", `/approve ${ID} ${DIGEST}`), undefined);
  assertEquals(readCommand([{ type: "image" }]), undefined);
});

Deno.test("readCommand() is total, bounded, and fast on what is made to be slow", () => {
  fc.assert(fc.property(fc.array(anyString()), (texts) => void read(...texts)));
  const long = "\u200b ".repeat(200_000);
  const begin = cpuMs();
  read(`${long}/approv`);
  read(`/deny ${"x".repeat(1_000_000)} ${long}`);
  read(`/approve@${"x".repeat(1_000_000)}`);
  assert(cpuMs() - begin < 1_000, "slow");
});
