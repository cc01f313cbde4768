/**
 * What it costs to take secrets out: of the small pieces of a streamed answer, of a long text, and of
 * texts that somebody wrote to make it slow. Compared with what every token pays anyway, to be written
 * as JSON, and with plain text of the same length.
 */

import { fingerprintsOf, newSalt } from "../lib/secrets/fingerprints_of.ts";
import { createScrubber } from "../lib/secrets/scrubber.ts";
import { type Figure, median, report } from "./report.ts";

const random = (length: number) =>
  crypto.getRandomValues(new Uint8Array(length)).toBase64({ alphabet: "base64url" }).slice(
    0,
    length,
  );

/** Of a busy home: forty keys and one private key, line by line. */
const PEM = `-----BEGIN PRIVATE KEY-----\n${
  Array.from({ length: 50 }, () => random(64)).join("\n")
}\n-----END PRIVATE KEY-----\n`;
const VALUES = [...Array.from({ length: 40 }, () => `sk-proj-${random(48)}`), PEM, random(65_536)];
// As the authority makes them, together.
const SALT = newSalt();
const FINGERPRINTS = VALUES.flatMap((value, at) =>
  fingerprintsOf({ name: `SECRET_${at}`, value }, SALT)
);
const scrubber = createScrubber(FINGERPRINTS);

const WORDS =
  "The agent reads the file `notes.md`, finds 3 of 17 entries and writes them to /tmp/out.json. ";
const TOKENS = Array.from(
  { length: 200_000 },
  (_, at) => WORDS.slice(at * 4 % 88, at * 4 % 88 + 4),
);
const TEXT = WORDS.repeat(1_048_576 / WORDS.length);

function time(run: () => void): number {
  run();
  return median(Array.from({ length: 5 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  }));
}

let length = 0;
const perToken = time(() => {
  const pieces = scrubber.pieces((text) => length += text.length);
  for (const token of TOKENS) pieces.push(token);
  pieces.end();
}) / TOKENS.length * 1_000;
const asJson = time(() => {
  for (const token of TOKENS) {
    length += JSON.stringify({ type: "text_delta", streamId: "id.1.1", text: token }).length;
  }
}) / TOKENS.length * 1_000;

const plain = time(() => length += scrubber.text(TEXT).length);
const hostile = (name: string, beginning: string): Figure => {
  const text = beginning.repeat(Math.ceil(TEXT.length / beginning.length)).slice(0, TEXT.length);
  return {
    name,
    value: time(() => length += scrubber.text(text).length),
    unit: "ms/MiB",
    against: { name: "plain text", value: plain },
    aim: { atMost: 100 },
  };
};
const half = time(() => length += scrubber.text(TEXT.slice(0, TEXT.length / 2)).length);

const figures: Figure[] = [
  {
    name: "a token of 4 characters through pieces()",
    value: perToken,
    unit: "us",
    against: { name: "the token as an event in JSON", value: asJson },
    aim: { atMost: 10 },
  },
  {
    name: "1 MiB of plain text",
    value: plain,
    unit: "ms",
    against: { name: "half of it", value: half },
    aim: { atMost: 3 },
  },
  hostile("1 MiB of beginnings of keys", "sk-p"),
  hostile("1 MiB of longer beginnings of keys", VALUES[0]!.slice(0, 31)),
  hostile("1 MiB of a key without its end", VALUES[0]!.slice(0, -1)),
  hostile("1 MiB of a long value without its end", VALUES.at(-1)!.slice(0, -1)),
];

const ok = report(`scrub (${FINGERPRINTS.length} fingerprints)`, figures, {
  json: Deno.args.includes("--json"),
});
// What was measured was done.
if (length === 0 || !ok) Deno.exit(1);
