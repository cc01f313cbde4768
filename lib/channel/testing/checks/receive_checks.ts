/**
 * How a runtime hears.
 *
 * @module
 */

import type { BaseChannel } from "../../base_channel.ts";
import type { ChannelHost } from "../../channel_host.ts";
import { type ChannelCheck, expect } from "../channel_check.ts";
import { onTrial, type Trial } from "../trial.ts";

export const RECEIVE_CHECKS: readonly ChannelCheck[] = [
  {
    id: "hears",
    rule: "Each message of somebody who may write is published with its sender, chat and text.",
    says: "a message that comes in has to be given to handleMessage() as it is",
    run: (subject) => onTrial(subject, hears),
  },
  {
    id: "hears_anything",
    rule: "Whatever somebody writes, it is heard or left out, and the channel goes on.",
    says: "no text of somebody may end the channel",
    run: (subject) => onTrial(subject, hearsAnything),
  },
  {
    id: "keeps_all",
    rule:
      "Many messages at once are all heard, each once, also while the service takes none (C34).",
    says: "every message has to be heard once, however many come",
    run: (subject) => onTrial(subject, keepsAll),
  },
  {
    id: "allow_from",
    rule:
      "isAllowed() compares ids exactly; an absent or empty list, and a plain Map as config, let nobody " +
      "in (C31).",
    says: "isAllowed() has to let in those alone whom allowFrom lists exactly",
    run: async (subject) => {
      await onTrial(subject, allowFrom);
      const [known] = await sendersOf(subject);
      await onTrial(subject, strangersAreDenied, { section: { allowFrom: [known] } });
    },
  },
  {
    id: "acknowledges",
    rule:
      "The platform is told that a message has come when handleMessage() has resolved, or when it is on the " +
      "disk so that the next runtime publishes it.",
    says:
      "await handleMessage() before the platform is acknowledged, or keep the message (host.intake)",
    needs: ["acknowledged"],
    run: async (subject) => {
      await onTrial(subject, acknowledgesBehind);
      await onTrial(subject, keepsWhatFailed);
    },
  },
  {
    id: "redelivery",
    rule: "What the platform delivers again has the messageId that it had (W2).",
    says: "messageId has to be the platform's own id of the message, the same each time",
    needs: ["redeliver"],
    run: (subject) => onTrial(subject, redelivers),
  },
  {
    id: "own_messages",
    rule: "What the channel's own account writes is not heard (C37).",
    says: "leave out messages of the account that the channel writes with",
    run: (subject) => onTrial(subject, (trial) => isNotHeard(trial, "own")),
  },
  {
    id: "bots",
    rule: "What other programs write is not heard (C37).",
    says: "leave out messages that the platform says are written by programs",
    run: (subject) => onTrial(subject, (trial) => isNotHeard(trial, "bot")),
  },
];

async function sendersOf(subject: Parameters<typeof onTrial>[0]): Promise<[string, string]> {
  const platform = await subject.openPlatform();
  const [one, other] = platform.senders;
  await platform.close();
  return [one, other];
}

async function hears(trial: Trial): Promise<void> {
  void trial.start();
  const [text, other] = [trial.token("hello"), trial.token("again")];
  for (const each of [text, other]) {
    await trial.deliver({ text: each });
    await trial.heard(each);
  }
  for (const each of [text, other]) {
    const times = trial.host.published.filter(({ content }) => content.includes(each));
    expect(times.length === 1, `a message was published ${times.length} times`);
    const { senderId, chatId, streaming } = times[0]!;
    const [known] = trial.platform.senders;
    expect(senderId === known, `senderId is "${senderId}", and "${known}" wrote it`);
    expect(chatId !== "", "chatId is empty");
    const supports = trial.channel.supportsStreaming;
    expect(streaming === supports, `streaming is ${streaming}, supportsStreaming ${supports}`);
  }
}

/** On one line: not every wire has more. */
const ODD: readonly string[] = [
  "x\u202Eabc\u2066\u200B\uFEFF 👩‍👩‍👧‍👦 e\u0301",
  "<script>alert(1)</script> &lt; %s %00 ${x} {{x}} $(x) `x` ../../x",
  '{"__proto__": {"x": 1}} "x" \'x\' \\ \\n',
  "/stop /approve x y",
  "x".repeat(300),
];

async function hearsAnything(trial: Trial): Promise<void> {
  void trial.start();
  for (const odd of ODD) await trial.deliver({ text: odd });
  const marker = trial.token("behind");
  await trial.deliver({ text: marker });
  await trial.heard(marker);
  expect(trial.startEnd === undefined, trial.startWords());
}

const MANY = 20;

async function keepsAll(trial: Trial): Promise<void> {
  const { host, patience } = trial;
  const release = host.hold();
  void trial.start();
  const texts = Array.from({ length: MANY }, (_, index) => trial.token(`many${index}`));
  try {
    for (const text of texts) await trial.deliver({ text });
    await patience.until(() => host.offered.length > 0, "no message was published");
  } finally {
    release();
  }
  const isHeard = (text: string) => host.published.some(({ content }) => content.includes(text));
  await patience.until(() => texts.every(isHeard) || trial.startEnd !== undefined, "")
    .catch(() => {});
  const lost = texts.flatMap((text, index) => isHeard(text) ? [] : [index + 1]);
  expect(lost.length === 0, `of ${MANY} these were not published: ${lost.join(", ")}`);
  const twice = texts.find((text) =>
    new Set(
      host.published.filter(({ content }) => content.includes(text)).map(({ messageId }) =>
        messageId
      ),
    ).size > 1
  );
  expect(twice === undefined, "a message was published twice, as two");
}

function allowFrom(trial: Trial): Promise<void> {
  const { channel, host, config } = trial;
  const Runtime = channel.constructor as new (config: unknown, host: ChannelHost) => BaseChannel;
  const letsIn = (value: unknown, sender: string) => new Runtime(value, host).isAllowed(sender);
  const withList = (list: unknown) => ({ ...config, allowFrom: list });
  expect(letsIn(withList(["alice"]), "alice"), '["alice"] does not let in "alice"');
  expect(letsIn(withList(["*"]), "alice"), '["*"] does not let in "alice"');
  for (
    const [value, sender, words] of [
      [withList(["alice"]), "alice2", '["alice"] lets in "alice2"'],
      [withList(["alice"]), "Alice", '["alice"] lets in "Alice"'],
      [withList(["alice"]), "", '["alice"] lets in ""'],
      [withList([]), "alice", 'an empty list lets in "alice"'],
      [withList(undefined), "alice", 'no list lets in "alice"'],
      [withList("*"), "alice", 'the text "*" lets in "alice"'],
      [new Map(Object.entries(withList(["*"]))), "alice", 'a Map as config lets in "alice"'],
    ] as const
  ) {
    let isIn: boolean;
    try {
      isIn = letsIn(value, sender);
    } catch {
      // A config of which nothing can be made lets nobody in.
      continue;
    }
    expect(isIn === false, words);
  }
  return Promise.resolve();
}

async function strangersAreDenied(trial: Trial): Promise<void> {
  void trial.start();
  const [unheard, marker] = [trial.token("stranger"), trial.token("known")];
  await trial.deliver({ text: unheard, senderId: trial.platform.senders[1] });
  await trial.deliver({ text: marker });
  await trial.heard(marker);
  expect(
    !trial.host.offered.some(({ content }) => content.includes(unheard)),
    "a message of somebody whom allowFrom does not list was published",
  );
}

async function acknowledgesBehind(trial: Trial): Promise<void> {
  const { host, platform, patience } = trial;
  const release = host.hold();
  void trial.start();
  const text = trial.token("hold");
  const id = await trial.deliver({ text });
  await patience.until(() => host.offered.length > 0, "the message was not published");
  // Whatever the channel says to the platform by itself at this point has gone out by now.
  for (let turns = 0; turns < 20; turns++) await new Promise((next) => setTimeout(next, 1));
  const isEarly = platform.acknowledged!().includes(id);
  if (isEarly) {
    release(new Error("the service has gone"));
    await expectKept(
      trial,
      text,
      "the platform was acknowledged before publish() had resolved, and the message is lost",
    );
    return;
  }
  release();
  await patience.until(
    () => platform.acknowledged!().includes(id),
    "the platform was not acknowledged though publish() has resolved",
  );
}

async function keepsWhatFailed(trial: Trial): Promise<void> {
  const { host, platform, patience } = trial;
  host.failNext(new Error("the disk is full"));
  void trial.start();
  const [text, marker] = [trial.token("fails"), trial.token("behind")];
  const id = await trial.deliver({ text });
  await patience.until(() => host.offered.length > 0, "the message was not published");
  const next = await trial.deliver({ text: marker });
  await patience.until(
    () => platform.acknowledged!().includes(next),
    "it acknowledges nothing any more behind a message that could not be published",
  );
  const isKept = host.published.some(({ content }) => content.includes(text));
  if (isKept || !platform.acknowledged!().includes(id)) return;
  await expectKept(trial, text, "it acknowledged a message though publish() had rejected");
}

/** A runtime that comes after it publishes the message: it was on the disk. */
async function expectKept(trial: Trial, text: string, otherwise: string): Promise<void> {
  const again = await trial.again();
  void again.start();
  await again.heard(text).catch(() => expect(false, otherwise));
}

async function redelivers(trial: Trial): Promise<void> {
  void trial.start();
  const [text, marker] = [trial.token("twice"), trial.token("other")];
  await trial.deliver({ text });
  await trial.heard(text);
  await trial.platform.redeliver!();
  await trial.deliver({ text: marker });
  await trial.heard(marker);
  const ids = (token: string) =>
    new Set(
      trial.host.published.filter(({ content }) => content.includes(token))
        .map(({ chatId, messageId }) => {
          expect(messageId !== undefined, "messageId is absent");
          return JSON.stringify([chatId, messageId]);
        }),
    );
  const [one, ...others] = ids(text);
  expect(others.length === 0, `it was ${one} and then ${others[0]}`);
  expect(!ids(marker).has(one!), "two messages have the same messageId");
}

async function isNotHeard(trial: Trial, from: "own" | "bot"): Promise<void> {
  void trial.start();
  const [unheard, marker] = [trial.token(from), trial.token("person")];
  await trial.deliver({ text: unheard, from });
  await trial.deliver({ text: marker });
  await trial.heard(marker);
  expect(
    !trial.host.offered.some(({ content }) => content.includes(unheard)),
    from === "own" ? "it heard itself" : "it heard a bot",
  );
}
