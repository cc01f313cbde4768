import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { needs } from "../../tests/support/needs.ts";
import { rounds } from "../../tests/support/rounds.ts";
import { shellWord } from "./shell_word.ts";
import { anyString } from "../../tests/support/any_string.ts";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** What bash makes of words, in one go. */
async function readByShell(words: readonly string[]): Promise<string[]> {
  const script = words.map((word) => `printf '%s\\0' ${shellWord(word)}`).join("\n");
  const { stdout } = await new Deno.Command("bash", {
    args: ["-c", script],
    env: { LC_ALL: "C.UTF-8" },
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

Deno.test(
  needs("shellWord() writes what a shell reads back as the same text, and nothing hidden", "bash"),
  async () => {
    const samples = fc.sample(
      fc.oneof(
        anyString({ maxLength: 30 }),
        fc.string({
          unit: fc.constantFrom("'", '"', "\\", "$", "`", "!", " ", "\n", "\u200b", "x", "1"),
        }),
      ),
      { numRuns: rounds(300), seed: 7 },
    );
    const words = [
      "",
      "a",
      "a b",
      "it's",
      "$(id)",
      "-n",
      "\u200b1f",
      "\x1b[31m",
      "😀\u202e",
      ...samples,
    ]
      .map((word) => word.replaceAll("\0", "")).filter((word) => word.isWellFormed());
    for (const word of words) {
      assert(!HIDDEN.test(shellWord(word)), JSON.stringify(shellWord(word)));
    }
    assertEquals(await readByShell(words), words);
  },
);

Deno.test("shellWord() leaves plain words as they are", () => {
  assertEquals(["fs.read", "/a/b-c.txt", "telegram:5"].map(shellWord), [
    "fs.read",
    "/a/b-c.txt",
    "telegram:5",
  ]);
});
