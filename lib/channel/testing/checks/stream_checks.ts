/**
 * How a runtime takes answers piece by piece.
 *
 * @module
 */

import { type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import { onTrial, squeezed, type Trial } from "../trial.ts";

const STREAMING = { section: { streaming: true } };

/** For runtimes that have `sendDelta`. */
export const STREAM_CHECKS: readonly ChannelCheck[] = [
  {
    id: "streams",
    rule: "The pieces of a stream arrive as one text, in order and once.",
    says: "the pieces of a stream have to come together as its text",
    run: (subject) => onTrial(subject, streams, STREAMING),
  },
  {
    id: "streams_apart",
    rule: "Two streams of one chat never mix: buffers are kept by streamId.",
    says: "keep the buffers of streams by streamId",
    run: (subject) => onTrial(subject, streamsApart, STREAMING),
  },
  {
    id: "stream_retry",
    rule: "A piece that was rejected comes once more, and its text arrives once (C27).",
    says: "sendDelta() may keep nothing of a piece that it rejects",
    needs: ["refuse"],
    run: (subject) => onTrial(subject, streamsAgain, STREAMING),
  },
];

async function streams(trial: Trial): Promise<void> {
  if (trial.channel.sendDelta === undefined) return;
  await trial.delivering();
  const pieces = [trial.token("one"), ` ${trial.token("two")}`, ` ${trial.token("three")}`];
  for (const piece of pieces) await piecesTo(trial, "stream-a", piece);
  await piecesTo(trial, "stream-a", "", true);
  await requireText(trial, pieces.join(""));
  expect(
    trial.sentWith(pieces[0]!) === 1,
    `its beginning stands in ${trial.sentWith(pieces[0]!)} messages`,
  );
  // The same name may be used again, for another text.
  const next = trial.token("next");
  await piecesTo(trial, "stream-b", next, true);
  await requireText(trial, next);
}

async function streamsApart(trial: Trial): Promise<void> {
  if (trial.channel.sendDelta === undefined) return;
  await trial.delivering();
  const [a, b] = [[trial.token("a1"), trial.token("a2")], [trial.token("b1"), trial.token("b2")]];
  await piecesTo(trial, "stream-a", a[0]!);
  await piecesTo(trial, "stream-b", b[0]!);
  await piecesTo(trial, "stream-a", a[1]!, true);
  await piecesTo(trial, "stream-b", b[1]!, true);
  await requireText(trial, a.join(""));
  await requireText(trial, b.join(""));
}

async function streamsAgain(trial: Trial): Promise<void> {
  if (trial.channel.sendDelta === undefined) return;
  await trial.delivering();
  const [first, second, last] = ["first", "second", "last"].map((name) => trial.token(name));
  await piecesTo(trial, "stream-a", first!);
  trial.platform.refuse!("temporary");
  const more = await trial.sendDelta("stream-a", second!).then(() => "", () => second!);
  // Given once more with what came since; where the piece was only kept, the end is refused instead.
  const end = `${more}${last}`;
  await trial.sendDelta("stream-a", end, true).catch(() => piecesTo(trial, "stream-a", end, true));
  await requireText(trial, `${first}${second}${last}`);
  for (const text of [first, second, last]) {
    const times = trial.platform.sent()
      .reduce((sum, sent) => sum + sent.text.split(text!).length - 1, 0);
    expect(times === 1, `"${text}" stands there ${times} times`);
  }
}

async function piecesTo(trial: Trial, id: string, delta: string, end = false): Promise<void> {
  await trial.sendDelta(id, delta, end)
    .catch((error) => expect(false, `sendDelta() rejects: ${wordsOf(error)}`));
}

/** The text of a stream, in as many messages behind each other as the platform shows it in. */
async function requireText(trial: Trial, text: string): Promise<void> {
  const all = () => squeezed(trial.platform.sent().map(({ text }) => text).join(""));
  await trial.patience.until(
    () => all().includes(squeezed(text)),
    `"${text}" has not arrived as one text`,
  );
}
