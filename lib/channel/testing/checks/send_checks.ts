/**
 * How a runtime sends.
 *
 * @module
 */

import { join } from "@std/path";
import type { OutboundEvent, OutboundMessage } from "../../../contract/outbound_message.ts";
import { type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import { onTrial, type Trial } from "../trial.ts";

export const SEND_CHECKS: readonly ChannelCheck[] = [
  {
    id: "delivers",
    rule: "send() resolves when the platform has taken the message, which arrives in its chat.",
    says: "a message has to arrive in its chat, once",
    run: (subject) => onTrial(subject, delivers),
  },
  {
    id: "send_before_ready",
    rule:
      "send() rejects as long as nothing can be delivered, before start() and while it connects.",
    says: "send() has to reject until the platform can take a message",
    run: (subject) => onTrial(subject, sendBeforeReady),
  },
  {
    id: "send_after_stop",
    rule: "send() rejects after stop().",
    says: "send() has to reject after stop()",
    run: (subject) =>
      onTrial(subject, async (trial) => {
        await trial.delivering();
        await trial.stop();
        await requireRejection(trial, trial.token("late"));
      }),
  },
  {
    id: "send_nothing",
    rule:
      "send() resolves and delivers nothing for events that the channel does not know, and for messages " +
      "without content.",
    says: "send() has to leave out what it does not know and what is empty",
    run: (subject) => onTrial(subject, sendNothing),
  },
  {
    id: "side_notes",
    rule:
      "Progress, breadcrumbs, thoughts, how an approval came out and the end of a turn resolve; the answer " +
      "comes behind them.",
    says: "what is said beside an answer has to resolve, shown or not",
    run: (subject) => onTrial(subject, takesSideNotes),
  },
  {
    id: "media",
    rule: "A channel with the capability media delivers the files of a message.",
    says: 'files have to arrive with their message; or take "media" out of the capabilities',
    run: (subject) => onTrial(subject, sendsFiles),
  },
];

async function delivers(trial: Trial): Promise<void> {
  await trial.delivering();
  const text = trial.token("hello");
  await trial.send(text).catch((error) => expect(false, `send() rejects: ${wordsOf(error)}`));
  await trial.arrived(text);
  const { chatId } = trial.platform;
  const found = trial.platform.sent().find((sent) => sent.text.includes(text));
  expect(found?.chatId === chatId, `it arrived in ${JSON.stringify(found?.chatId)}`);
  // Whatever is sent behind it comes behind a second copy.
  const marker = trial.token("behind");
  await trial.send(marker);
  await trial.arrived(marker);
  const times = trial.sentWith(text);
  expect(times === 1, `it arrived ${times} times`);
}

async function sendBeforeReady(trial: Trial): Promise<void> {
  await requireRejection(trial, trial.token("early"));
  const text = trial.token("while-it-connects");
  const started = trial.start();
  // One that resolves is one that arrived; anything else has to reject.
  const isTaken = await trial.send(text).then(() => true, () => false);
  if (isTaken) await trial.arrived(text);
  await trial.stop();
  await started;
}

async function requireRejection(trial: Trial, text: string): Promise<void> {
  const isTaken = await trial.send(text).then(() => true, () => false);
  expect(!isTaken, "it resolved");
}

/** Of kinds that come later, too: a runtime of today is given them one day. */
const NOTHING: readonly Partial<OutboundMessage>[] = [
  { content: "" },
  { content: " \n\t " },
  { content: "", event: { type: "progress", toolHint: false } },
  { content: "", event: { type: "progress", toolHint: true } },
  { content: "", event: { type: "turn_end", status: "done" } },
  { content: "", event: { type: "goal_status" } },
  {
    content: "of a kind that comes later",
    event: { type: "kit_unknown" } as unknown as OutboundEvent,
  },
];

async function sendNothing(trial: Trial): Promise<void> {
  const ready = await trial.delivering();
  const before = trial.platform.sent().filter(({ text }) => !text.includes(ready)).length;
  for (const message of NOTHING) {
    const what = `${JSON.stringify(message.content)} with the event ${
      message.event?.type ?? "none"
    }`;
    await trial.send(message.content!, message)
      .catch((error) => expect(false, `it rejects ${what}: ${wordsOf(error)}`));
  }
  const marker = trial.token("something");
  await trial.send(marker);
  await trial.arrived(marker);
  const others = trial.platform.sent()
    .filter(({ text }) => !text.includes(ready) && !text.includes(marker)).slice(before);
  expect(others.length === 0, `it delivered ${JSON.stringify(others[0]?.text)}`);
}

async function takesSideNotes(trial: Trial): Promise<void> {
  await trial.delivering();
  const { channel, patience, platform: { chatId, metadata = {} } } = trial;
  const thought = { chatId, metadata, streamId: "thought" };
  const end = { type: "turn_end", status: "done" } as const;
  const resolved = { type: "approval_resolved", id: "apr_1", outcome: "denied" } as const;
  const notes: readonly (readonly [string, () => Promise<void>])[] = [
    ["progress", () => trial.send("reading", { event: { type: "progress", toolHint: false } })],
    [
      "a breadcrumb",
      () => trial.send("read_file", { event: { type: "progress", toolHint: true } }),
    ],
    ["a piece of a thought", () => channel.sendReasoningDelta({ ...thought, delta: "well" })],
    ["the end of a thought", () => channel.sendReasoningEnd(thought)],
    ["the end of a thought that never began", () => channel.sendReasoningEnd(thought)],
    // Of one that it has never shown, or has forgotten.
    ["how an approval came out", () => trial.send("Denied: apr_1.", { event: resolved })],
    ["the end of a turn", () => trial.send("", { event: end })],
  ];
  for (const [what, note] of notes) {
    await patience.settled(note(), `${what} has not settled`)
      .catch((error) => expect(false, `it rejects ${what}: ${wordsOf(error)}`));
  }
  const answer = trial.token("answer");
  await trial.send(answer);
  await trial.arrived(answer);
}

async function sendsFiles(trial: Trial): Promise<void> {
  if (!trial.descriptor.capabilities.includes("media")) return;
  await trial.delivering();
  const name = `${trial.token("file")}.txt`;
  const path = join(trial.host.stateDir, name);
  await Deno.writeTextFile(path, "hello");
  await trial.send(trial.token("with-a-file"), { media: [path] })
    .catch((error) => expect(false, `send() rejects: ${wordsOf(error)}`));
  await trial.patience.until(
    () => trial.platform.sent().some(({ files = [] }) => files.includes(name)),
    `the file ${name} has not arrived`,
  );
}
