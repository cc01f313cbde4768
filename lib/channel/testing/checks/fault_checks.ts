/**
 * How a runtime says what went wrong.
 *
 * @module
 */

import { type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import { isPermanent, isRetryLater, onTrial, type Trial } from "../trial.ts";

export const FAULT_CHECKS: readonly ChannelCheck[] = [
  {
    id: "permanent_faults",
    rule: "What a repeat cannot mend rejects with a PermanentDeliveryError.",
    says: "send() has to reject with a PermanentDeliveryError where the platform refuses for good",
    needs: ["refuse"],
    run: (subject) => onTrial(subject, (trial) => isRefused(trial, "permanent")),
  },
  {
    id: "temporary_faults",
    rule: "What a repeat may mend rejects with any other error, and the next message goes out.",
    says: "send() has to reject, not for good, where the platform refuses for now",
    needs: ["refuse"],
    run: (subject) => onTrial(subject, (trial) => isRefused(trial, "temporary")),
  },
  {
    id: "goes_down",
    rule:
      "While the platform is away send() rejects, and not for good; start() goes on and connects again, or " +
      "ends and is started anew.",
    says: "a platform that is away has to make send() reject with an error that is not permanent",
    needs: ["goDown"],
    run: (subject) => onTrial(subject, goesDown),
  },
  {
    id: "away_costs_nothing",
    rule:
      "While the platform is away send() rejects with a NotConnectedError, or any RetryLaterError, so " +
      "that an outage costs an answer none of its attempts; or the channel does not run.",
    says: "reject with a NotConnectedError where there is no connection, and nothing was sent",
    needs: ["goDown"],
    run: (subject) => onTrial(subject, costsNothing),
  },
  {
    id: "secrets",
    rule: "No error, no line of the log and no detail holds a secret of the section.",
    says: "take the values of secrets out of errors, logs and details",
    run: secretsAreKept,
  },
];

async function isRefused(trial: Trial, kind: "permanent" | "temporary"): Promise<void> {
  await trial.delivering();
  trial.platform.refuse!(kind);
  const refused = trial.token("refused");
  const error = await trial.send(refused).then(() => undefined, (error) => error ?? "nothing");
  expect(error !== undefined, "it resolved");
  const seen = `it rejected with ${error instanceof Error ? error.name : typeof error}: ${
    wordsOf(error)
  }`;
  expect(isPermanent(error) === (kind === "permanent"), seen);
  const text = trial.token("next");
  await trial.send(text)
    .catch((error) => expect(false, `the message behind it is rejected too: ${wordsOf(error)}`));
  await trial.arrived(text);
}

async function goesDown(trial: Trial): Promise<void> {
  await trial.delivering();
  await trial.platform.goDown!();
  let error: unknown;
  // What was under way may have been taken still.
  await trial.patience.until(async () => {
    if (trial.startEnd !== undefined) return true;
    error = await trial.send(trial.token("lost")).then(() => undefined, (error) => error ?? "");
    return error !== undefined;
  }, "send() has not rejected, and start() has not ended");
  expect(!isPermanent(error), `it rejected for good: ${wordsOf(error)}`);
}

/** Errors that cost a message an attempt: of what was under way when the platform went. */
const MAX_COSTLY = 1;

async function costsNothing(trial: Trial): Promise<void> {
  await trial.delivering();
  await trial.platform.goDown!();
  const costly: string[] = [];
  await trial.patience.until(async () => {
    // The service gives it nothing then.
    if (trial.startEnd !== undefined || !trial.channel.isRunning) return true;
    const error = await trial.send(trial.token("kept")).then(() => undefined, (error) => error);
    if (isRetryLater(error)) return true;
    if (error !== undefined) {
      costly.push(`${error instanceof Error ? error.name : typeof error}: ${wordsOf(error)}`);
    }
    expect(costly.length <= MAX_COSTLY, `it rejected with ${costly.at(-1)}`);
    return false;
  }, "send() has not rejected with one, and the channel runs");
}

/** Fewer characters stand in many texts by chance. */
const MIN_SECRET_CHARS = 6;

async function secretsAreKept(subject: Parameters<typeof onTrial>[0]): Promise<void> {
  const descriptor = await subject.descriptor();
  const names = Object.entries(descriptor.setup.fields)
    .filter(([, { kind }]) => kind === "secret").map(([name]) => name);
  if (names.length === 0) return;
  await onTrial(subject, async (trial) => {
    await trial.delivering();
    if (trial.platform.refuse !== undefined) {
      trial.platform.refuse("permanent");
      await trial.send(trial.token("refused")).catch(() => {});
    }
    if (trial.platform.goDown !== undefined) {
      await trial.platform.goDown();
      await trial.send(trial.token("lost")).catch(() => {});
    }
    await trial.end();
    requireNoSecret(trial, names);
  });
  // A platform that does not know a secret likes to repeat it.
  const wrong = Object.fromEntries(
    names.map((name) => [name, `wrong-${crypto.randomUUID()}`]),
  );
  await onTrial(subject, async (trial) => {
    void trial.start();
    // Until something has come of it; some platforms look at a secret only when it is used.
    for (let looks = 0; looks < 100 && trial.startEnd === undefined; looks++) {
      await trial.send(trial.token("wrong")).catch(() => {});
      if (trial.host.lines.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await trial.end();
    requireNoSecret(trial, names);
  }, { section: wrong });
}

function requireNoSecret({ config, errors, host }: Trial, names: readonly string[]): void {
  const places: readonly (readonly [string, string])[] = [
    ...errors.map((error) => ["an error", deepWords(error)] as const),
    ...host.lines.map((line) => ["a line of the log", JSON.stringify(line)] as const),
    ...host.details.map((detail) => ["a detail", detail] as const),
  ];
  for (const name of names) {
    const secret = config[name];
    if (typeof secret !== "string" || secret.length < MIN_SECRET_CHARS) continue;
    const found = places.find(([, words]) => words.includes(secret));
    expect(found === undefined, `the value of ${name} stands in ${found?.[0]}`);
  }
}

/** Its text and that of its causes. */
function deepWords(error: unknown): string {
  const words: string[] = [];
  for (let one = error, depth = 0; one !== undefined && depth < 5; depth++) {
    words.push(String(one), one instanceof Error ? one.stack ?? "" : "");
    one = one instanceof Error ? one.cause : undefined;
  }
  return words.join("\n");
}
