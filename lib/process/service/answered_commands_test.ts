import { assertEquals, assertRejects } from "@std/assert";
import { AnsweredCommands } from "./answered_commands.ts";

Deno.test("AnsweredCommands keeps the latest thousand answers, and none that failed", async () => {
  const answered = new AnsweredCommands();
  for (let at = 0; at <= 1_000; at++) answered.keep(`c${at}`, Promise.resolve(`a${at}`));
  assertEquals(answered.find("c0"), undefined);
  assertEquals(await answered.find("c1"), "a1");
  assertEquals(await answered.find("c1000"), "a1000");
  const failed = Promise.reject(new Error("no"));
  answered.keep("f", failed);
  await assertRejects(() => failed);
  assertEquals(answered.find("f"), undefined);
});
