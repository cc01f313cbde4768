import { assertEquals } from "@std/assert";
import { printParagraph } from "./print_paragraph.ts";
import { memoryOutput } from "./testing/memory_output.ts";

Deno.test("printParagraph() ends lines between words on a terminal, and nowhere else", () => {
  const text = "open a chat and send it a long message";
  const shown = (isTerminal: boolean, text: string, head = "1. ") => {
    const { out, stdout } = memoryOutput({ stdout: isTerminal, noColor: true, columns: 20 });
    printParagraph(out, { text: head }, text, { indent: 3 });
    return stdout.text;
  };
  assertEquals(shown(false, text), `1. ${text}\n`);
  assertEquals(shown(true, text), "1. open a chat and\n   send it a long\n   message\n");
  assertEquals(shown(true, text, "  1  "), "  1  open a chat and\n   send it a long\n   message\n");
  assertEquals(shown(true, "允许写消息的人的成员"), "1. 允许写消息的人的\n   成员\n");
});
