import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { asSeen } from "../testing/fake_world.ts";
import { charsOf, MAX_CHARS, renderPart, splitForDiscord, toDiscord } from "./to_discord.ts";
import { toStatus } from "./to_status.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

const golden = new URL("./golden/", import.meta.url);

for (const { name } of [...Deno.readDirSync(golden)].filter(({ name }) => name.endsWith(".md"))) {
  Deno.test(`toDiscord() writes ${name} as it is in its golden file`, async () => {
    const markdown = await Deno.readTextFile(new URL(name, golden));
    const expected = await Deno.readTextFile(new URL(name.replace(/md$/, "txt"), golden));
    assertEquals(`${toDiscord(markdown)}\n`, expected);
  });
}

/** The messages of a text. */
const toMessages = (markdown: string) => splitForDiscord(markdown).map(renderPart);

/** Pieces that mean something in Markdown or on Discord, in any order. */
const odd = fc.array(
  fc.oneof(
    fc.constantFrom(
      ..."*_~|`<>#[]()\\!-+.\n \t@&:/".split(""),
      ...[
        "```",
        "~~~",
        "**",
        "||",
        "<@1>",
        "@everyone",
        "- ",
        "1. ",
        "> ",
        "| a |\n|---|\n",
        "\n\n",
      ],
      ...["😀", "👩‍👩‍👧", "\u202E", "\uD800", "\0", "\u200B", "https://x.y/z_", "[a](b)", "a"],
    ),
    anyString({ maxLength: 20 }),
  ),
  { maxLength: 300 },
).map((parts) => parts.join(""));

Deno.test("toMessages() never throws, and gives no message that is too long, blank or calls somebody", () => {
  fc.assert(
    fc.property(odd, fc.integer({ min: 1, max: 60 }), (text, times) => {
      for (const message of toMessages(text.repeat(times))) {
        assertEquals(charsOf(message) <= MAX_CHARS, true, `${charsOf(message)} characters`);
        assertEquals(message.trim() === "", false, "it is blank");
        assertEquals(message.isWellFormed(), true);
        // Outside of code no mark of a mention is left as one.
        const plain = message.replaceAll(
          /\\[^]|```[^]*?(?:```|$)|``[^]*?``|`[^`]*`/g,
          "",
        );
        assertEquals(/<[@#:t/]/.test(plain), false, JSON.stringify(plain));
      }
    }),
    { numRuns: rounds(150) },
  );
});

Deno.test("toMessages() loses no word of a long text, whatever stands between them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(" ", "\n", "\n\n", " **x** ", "\n- ", "\n> ", " `y` ", "\n1. "), {
        minLength: 500,
        maxLength: 700,
      }),
      (gaps) => {
        const text = gaps.map((gap, at) => `word${at}w${gap}`).join("");
        const found = toMessages(text).join("\n").match(/word\d+w/g);
        assertEquals(found, gaps.map((_, at) => `word${at}w`));
      },
    ),
    { numRuns: rounds(20) },
  );
});

Deno.test("toDiscord() lets neither an address nor code mean something to what follows it", () => {
  assertEquals(toDiscord("https://x.y/z_\\<@1>"), "https://x.y/z_%5C\\<@1>");
  assertEquals(toDiscord("```<@1>`a```<@1>`"), "`` <@1>`a ``\\<@1>\\`");
  const [, inner] = toDiscord("````\na ````` b\n`````").split("\n");
  assertEquals(inner, "a `\u200B`\u200B`\u200B`\u200B` b");
});

Deno.test("toMessages() counts as Discord does, in code points", () => {
  assertEquals(toMessages("😀".repeat(4_000)).map(charsOf), [2_000, 2_000]);
  assertEquals(toMessages("x".repeat(2_000)).length, 1);
  assertEquals(toMessages("*".repeat(2_000)).every((text) => charsOf(text) <= 2_000), true);
});

Deno.test("toMessages() takes bounded time for a text of marks", () => {
  const begin = cpuMs();
  for (const mark of ["*", "_[", "`", "> ", "<@1>", "|a|b|\n|-|-|\n", "- \n"]) {
    toMessages(mark.repeat(rounds(40_000, 10_000) / mark.length));
  }
  assertEquals(cpuMs() - begin < 10_000, true);
});

Deno.test("splitForDiscord() gives parts that are Markdown by themselves", () => {
  const code = `Before:\n\n\`\`\`js\n${"let x = 1;\n".repeat(600)}\`\`\`\n\nBehind.`;
  const parts = splitForDiscord(code);
  assertEquals(parts.length > 3, true);
  for (const part of parts) {
    const fences = renderPart(part).split("\n").filter((line) => line.startsWith("```"));
    assertEquals(fences.length % 2, 0);
  }
});

Deno.test("toStatus() gives one short line of small print", () => {
  assertEquals(toStatus("reading *a*\n\n# b_c"), "-# reading a b\\_c");
  assertEquals(toStatus(" \n "), "");
  assertEquals([...toStatus("😀".repeat(500))].length, 204);
});

Deno.test("asSeen() leaves code as it is", () => {
  assertEquals(asSeen("a \\* b `c \\* d` ```\n\\_\n```"), "a * b `c \\* d` ```\n\\_\n```");
});
