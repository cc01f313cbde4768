import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { marked } from "marked";
import { markdownBlocks } from "../webui/chat/markdown_blocks.ts";

const blocksOf = (text: string) => markdownBlocks(marked.defaults)(text).map(({ raw }) => raw);

Deno.test("markdownBlocks() finds in a text that grows what it finds in the whole one", () => {
  const piece = fc.constantFrom(
    ...[
      "a",
      "word ",
      "\n",
      "\n\n",
      "\n\n\n",
      "- ",
      "1. ",
      "2",
      "2. ",
      "  ",
      "    ",
      "# ",
      "#",
      "> ",
    ],
    ...[
      "```",
      "```ts\n",
      "---",
      "===",
      "| a |\n",
      "| - |\n",
      "**",
      "*",
      "`",
      "<p>",
      "[a]: /x\n",
      "[a]",
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const grows = markdownBlocks(marked.defaults);
      let text = "";
      for (const piece of pieces) {
        text += piece;
        assertEquals(grows(text).map(({ raw }) => raw), blocksOf(text), JSON.stringify(text));
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("markdownBlocks() keeps the blocks that a growing text is behind of, and drops those of another", () => {
  const grows = markdownBlocks(marked.defaults);
  const [first] = grows("one\n\ntwo\n\nthree");
  assertEquals(grows("one\n\ntwo\n\nthree and more")[0] === first, true);
  assertEquals(grows("other\n\ntwo\n\nthree").map(({ raw }) => raw), ["other", "two", "three"]);
});
