/**
 * How a runtime writes Markdown on its platform: at its limits, and whatever stands in it.
 *
 * @module
 */

import { type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import { isPermanent, onTrial, type Trial } from "../trial.ts";

export const TEXT_CHECKS: readonly ChannelCheck[] = [
  {
    id: "long_texts",
    rule:
      "A text that is too long for one message is split: nothing is lost, nothing is over the limit.",
    says: "long texts have to be split at the platform's limit",
    needs: ["limit"],
    run: (subject) => onTrial(subject, longTexts),
  },
  {
    id: "long_code",
    rule: "A block of code that is split is closed in each message and opened again in the next.",
    says: "blocks of code have to be closed and opened again where they are split",
    needs: ["limit"],
    run: (subject) => onTrial(subject, longCode),
  },
  {
    id: "hostile_texts",
    rule:
      "Whatever stands in a text, it is delivered or refused for good, goes to its own chat alone, and the " +
      "channel goes on.",
    says: "a text has to stay a text, whatever stands in it",
    run: (subject) => onTrial(subject, hostileTexts),
  },
];

async function longTexts(trial: Trial): Promise<void> {
  await trial.delivering();
  const { max } = trial.platform.limit!;
  const prefix = trial.token("w").replaceAll("-", "");
  const words = Array.from({ length: wordsFor(max, prefix) }, (_, index) => `${prefix}n${index}e`);
  const text = words.map((word, index) => (index % 40 === 39 ? `${word}\n\n` : `${word} `)).join(
    "",
  );
  await deliver(trial, text);
  await trial.arrived(words.at(-1)!);
  requireLimit(trial);
  const sent = trial.platform.sent().map(({ text }) => text).join("\n");
  const found = sent.match(new RegExp(`${prefix}n\\d+e`, "g")) ?? [];
  const wrong = words.findIndex((word, index) => found[index] !== word);
  expect(wrong === -1, `word ${wrong} of ${words.length} is lost, cut or not in its place`);
  expect(found.length === words.length, `${found.length - words.length} words came twice`);
  // Without a place to split at.
  const end = trial.token("end").replaceAll("-", "");
  await deliver(trial, `${"x".repeat(max * 2)}${end}`);
  await trial.patience.until(
    () => trial.platform.sent().map(({ text }) => text.trim()).join("").includes(end),
    "the end of a long word has not arrived",
  );
  requireLimit(trial);
}

async function longCode(trial: Trial): Promise<void> {
  await trial.delivering();
  const { max } = trial.platform.limit!;
  const prefix = trial.token("c").replaceAll("-", "");
  const lines = Array.from({ length: wordsFor(max, prefix) }, (_, at) => `${prefix}n${at}e;`);
  await deliver(trial, `Before:\n\n\`\`\`js\n${lines.join("\n")}\n\`\`\`\n\nBehind.`);
  await trial.arrived(lines.at(-1)!);
  requireLimit(trial);
  const parts = trial.platform.sent().filter(({ text }) => text.includes(prefix));
  const found = parts.flatMap(({ text }) => text.match(new RegExp(`${prefix}n\\d+e;`, "g")) ?? []);
  expect(
    found.join() === lines.join(),
    `${found.length} of ${lines.length} lines arrived, or in another order`,
  );
  if (trial.platform.hasFences !== true) return;
  for (const { text } of parts) {
    const fences = text.split("\n").filter((line) => /^\s*(```|~~~)/.test(line)).length;
    expect(
      fences % 2 === 0,
      `a message has ${fences} fences: ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
}

/** About three messages full, and not more than takes a moment. */
function wordsFor(max: number, prefix: string): number {
  return Math.min(20_000, Math.ceil((max * 3) / (prefix.length + 6)));
}

const HOSTILE: readonly (readonly [string, string])[] = [
  ["a fence that is never closed", "```js\nlet a = 1;"],
  ["marks that are never closed", `${"**_~~`[".repeat(500)} x`],
  ["deep nesting", `${"> ".repeat(500)}x\n${"- ".repeat(500)}x`],
  ["HTML", '<script>alert(1)</script><img src=x onerror="alert(1)"> &lt;b&gt; &#0; x'],
  ["a link that runs something", "[x](javascript:alert(1)) ![x](data:text/html,x)"],
  [
    "line ends of a wire",
    "x\r\nPRIVMSG #all :y\r\n.\r\nQUIT\r\nRCPT TO:<a@b.c>\r\n\r\nx\rx\u2028x",
  ],
  ["control characters", "x\u0000\u0007\u001b[31m\u0008\u007f\u009bx"],
  ["text that runs the other way", "x\u202Eabc\u2066def\u200B\uFEFFx"],
  ["half a character", "x\ud83d x \udc00x"],
  ["combined characters", `x${"e\u0301\u0316".repeat(300)} 👩‍👩‍👧‍👦`.repeat(3)],
  ["mentions of everybody", "@everyone @here <!channel> <@1> x"],
  ["a table", `| a | b |\n|---|---|\n${"| `|` | \\| |\n".repeat(50)}`],
];

async function hostileTexts(trial: Trial): Promise<void> {
  await trial.delivering();
  const { chatId } = trial.platform;
  for (const [what, hostile] of HOSTILE) {
    const marker = trial.token("marker");
    const before = trial.platform.sent().length;
    await trial.send(`${marker}\n\n${hostile}`).catch((error) =>
      expect(isPermanent(error), `${what} makes send() reject: ${wordsOf(error)}`)
    );
    const behind = trial.token("behind");
    await trial.send(behind).catch((error) =>
      expect(false, `behind ${what} send() rejects: ${wordsOf(error)}`)
    );
    await trial.arrived(behind);
    expect(trial.startEnd === undefined, `${what} ends the channel: ${trial.startWords()}`);
    const other = trial.platform.sent().slice(before).find((sent) => sent.chatId !== chatId);
    expect(other === undefined, `${what} arrives in the chat ${JSON.stringify(other?.chatId)}`);
  }
  if (trial.platform.limit !== undefined) requireLimit(trial);
}

async function deliver(trial: Trial, text: string): Promise<void> {
  await trial.send(text).catch((error) => expect(false, `send() rejects: ${wordsOf(error)}`));
}

function requireLimit({ platform }: Trial): void {
  const { max, sizeOf } = platform.limit!;
  const sizes = platform.sent().map(sizeOf);
  const largest = Math.max(0, ...sizes);
  expect(largest <= max, `a message of ${largest} was sent, and the platform takes ${max}`);
}
