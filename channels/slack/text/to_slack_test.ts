import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  MAX_MARKDOWN_CHARS,
  MAX_TEXT_CHARS,
  sizeForSlack,
  splitForSlack,
  toSlack,
  toSlackText,
} from "./to_slack.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const GOLDEN = new URL("./golden/", import.meta.url);

for (const { name } of [...Deno.readDirSync(GOLDEN)].filter(({ name }) => name.endsWith(".md"))) {
  Deno.test(`toSlack() writes ${name} as it stands beside it`, async () => {
    const markdown = await Deno.readTextFile(new URL(name, GOLDEN));
    const parts = splitForSlack(markdown).map((part) => toSlack(part));
    assertEquals(
      `${JSON.stringify(parts, null, 2)}\n`,
      await Deno.readTextFile(new URL(name.replace(/md$/, "json"), GOLDEN)),
    );
  });
}

const mark = fc.constantFrom(
  "<!channel>",
  "<!HERE>",
  "&lt;!everyone>",
  "<@U0ALICE0001>",
  "<#C0GENERAL01|x>",
  "<!subteam^S1>",
  "<",
  ">",
  "&",
  "`",
  "```\n",
  "**",
  "_",
  "[a](",
  ")",
  "\n",
  "\n\n",
  "- ",
  "> ",
  "| a | b |\n|--|--|\n",
  "# ",
  "é👩‍👩‍👧‍👦",
);
const anyText = fc.array(fc.oneof(mark, anyString({ maxLength: 12 })), {
  maxLength: 80,
}).map((all) => all.join(""));

Deno.test("toSlack() calls nobody and escapes all, whatever the text is", () => {
  fc.assert(
    fc.property(anyText, (markdown) => {
      for (const part of splitForSlack(markdown)) {
        const { blocks, text } = toSlack(part);
        const [block] = blocks as { text: string }[];
        for (const shown of [block!.text, text, toSlackText(part)]) {
          assert(shown.isWellFormed());
          assert(!/<!(?:channel|here|everyone|subteam|date)|<[@#][A-Z0-9]/i.test(shown), shown);
        }
        // What is left of it are links that we have written, and references.
        const rest = toSlackText(part).replace(
          /<(?:https?:\/\/|mailto:)[^<>|\s]+(?:\|[^<>]*)?>/g,
          "",
        );
        assert(
          !/[<>]/.test(rest.replace(/^(?:> ?)+/gm, "").replace(/(?<=^|\s|-|\.)> ?/gm, "")),
          rest,
        );
        assert(!/&(?!amp;|lt;|gt;)/.test(rest), rest);
      }
    }),
    { numRuns: rounds(500) },
  );
});

Deno.test("splitForSlack() gives parts that fit as a block and as text, and loses nothing", () => {
  const word = fc.stringMatching(/^[a-z0-9&<>]{1,12}$/);
  const long = fc.tuple(fc.array(word, { minLength: 1, maxLength: 20 }), fc.nat(900))
    .map(([words, times]) => `${words.join(" ")} `.repeat(times));
  fc.assert(
    fc.property(long, (markdown) => {
      const parts = splitForSlack(markdown);
      for (const part of parts) {
        assert(part.length <= MAX_MARKDOWN_CHARS && sizeForSlack(part) <= MAX_MARKDOWN_CHARS);
        const { blocks: [block], text } = toSlack(part);
        assert(String(block!.text).length <= MAX_MARKDOWN_CHARS);
        assert(text.length <= 4_000 && toSlackText(part).length <= MAX_TEXT_CHARS);
      }
      const letters = (text: string) => text.replace(/[^a-z0-9]/g, "");
      assertEquals(letters(parts.join("")), letters(markdown));
    }),
    { numRuns: rounds(40) },
  );
});

Deno.test("toSlack() cuts a notification between characters", () => {
  for (
    const text of ["a&".repeat(5_000), "👩".repeat(5_000), "[a](https://e.org/) ".repeat(1_000)]
  ) {
    const { text: notice } = toSlack(text.slice(0, 12_000));
    assert(notice.length <= 4_000 && notice.endsWith("…") && notice.isWellFormed());
    assert(!/&(?!amp;|lt;|gt;)/.test(notice), notice.slice(-20));
    assert(!/<[^>]*$/.test(notice), notice.slice(-40));
  }
});
