/**
 * What a channel says that it can do, each where its manifest lists it.
 *
 * @module
 */

import { isLoginRefused } from "../../delivery_error.ts";
import { Broken, type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import { onTrial, type Trial } from "../trial.ts";

export const ABILITY_CHECKS: readonly ChannelCheck[] = [
  {
    id: "typing",
    rule: "From a message that opens a turn until that has ended people see that it is at work.",
    says: "show that an answer is being made, and no longer than that",
    capability: "typing",
    needs: ["isTyping"],
    run: (subject) => onTrial(subject, typing),
  },
  {
    id: "buttons",
    rule:
      "A click on a button of an approval is published as /approve or /deny of whoever clicked, after a " +
      "restart too, not once it is over; with denyOnly no button approves it.",
    says: "a click has to come as the command that its button stands for, once",
    capability: "buttons",
    needs: ["pressButton"],
    run: (subject) => onTrial(subject, buttons),
  },
  {
    id: "catch_up",
    rule:
      "What was written while the channel was down is heard after its next start, once, with the time at " +
      "which it was written.",
    says: "fetch what came while the channel was down, and publish it with sentAt",
    capability: "catch_up",
    needs: ["deliverAway"],
    run: (subject) => onTrial(subject, catchesUp),
  },
  {
    id: "login_refused",
    rule:
      "A token that was revoked makes start() reject with a LoginRefusedError, at the start and while the " +
      "channel runs.",
    says: "start() has to reject with a LoginRefusedError where the platform does not let it in",
    ifOffered: "revoke",
    run: async (subject) => {
      await onTrial(subject, refusedAtTheStart);
      await onTrial(subject, refusedWhileItRuns);
    },
  },
];

async function typing(trial: Trial): Promise<void> {
  const { platform, patience } = trial;
  void trial.start();
  const text = trial.token("typing");
  await trial.deliver({ text });
  await trial.heard(text);
  await patience.until(() => platform.isTyping!(), "nobody sees that it is at work");
  const { chatId, metadata = {} } = trial.host.published.find(({ content }) =>
    content.includes(text)
  )!;
  await trial.send("", { chatId, metadata, event: { type: "turn_end", status: "done" } })
    .catch((error) => expect(false, `it rejects the end of a turn: ${wordsOf(error)}`));
  await patience.until(() => !platform.isTyping!(), "it still shows that it is at work");
}

async function buttons(trial: Trial): Promise<void> {
  const { platform, host } = trial;
  const [sender] = platform.senders;
  const count = (command: string) =>
    host.published.filter(({ content }) => content.trim().startsWith(command)).length;
  await trial.delivering();
  const first = await askForApproval(trial);
  await press(trial, "approve");
  const approve = `/approve ${first.id} ${first.digest.slice(0, 8)}`;
  await trial.heard(approve);
  const click = host.published.find(({ content }) => content.trim().startsWith(approve))!;
  expect(click.senderId === sender, `senderId is "${click.senderId}", and "${sender}" clicked`);
  expect(
    click.chatId === platform.chatId,
    `chatId is "${click.chatId}", and the button is in "${platform.chatId}"`,
  );
  expect(click.messageId !== undefined, "messageId of the click is absent");
  await trial.send(`Approved: ${first.id}.`, {
    event: { type: "approval_resolved", id: first.id, outcome: "approved" },
  }).catch((error) => expect(false, `it rejects how it came out: ${wordsOf(error)}`));
  // There may be nothing to press any more.
  await press(trial, "approve").catch(() => {});
  const marker = trial.token("behind");
  await trial.deliver({ text: marker });
  await trial.heard(marker);
  expect(count(approve) === 1, "a click on an approval that was over was published as a command");

  const second = await askForApproval(trial);
  const again = await trial.again();
  await again.delivering();
  await press(again, "deny");
  await again.heard(`/deny ${second.id}`);

  const third = await askForApproval(again, { denyOnly: true });
  const isThere = await press(again, "approve").then(() => true, () => false);
  expect(!isThere, "an approval with denyOnly has a button that approves it");
  await press(again, "deny");
  await again.heard(`/deny ${third.id}`);
}

async function askForApproval(
  trial: Trial,
  { denyOnly }: { denyOnly?: true } = {},
): Promise<{ id: string; digest: string }> {
  const hex = () => crypto.randomUUID().replaceAll("-", "");
  const approval = { id: `apr_${hex().slice(0, 16)}`, digest: hex() + hex() };
  const text = trial.token("approval");
  const expiresAt = Date.now() + 120_000;
  await trial.send(`**Approval needed**: ${text}\n\nAllow it: \`/approve ${approval.id}\``, {
    event: { type: "approval", ...approval, expiresAt, ...denyOnly && { denyOnly } },
  }).catch((error) => expect(false, `it rejects an approval: ${wordsOf(error)}`));
  await trial.arrived(text);
  return approval;
}

function press(trial: Trial, button: "approve" | "deny"): Promise<void> {
  const { platform, patience } = trial;
  return patience.settled(
    platform.pressButton!(button, platform.senders[0]),
    `the platform could not press "${button}"`,
  );
}

async function catchesUp(trial: Trial): Promise<void> {
  const { platform, host } = trial;
  await trial.delivering();
  const before = trial.token("before");
  await trial.deliver({ text: before });
  await trial.heard(before);
  await trial.end();
  const away = trial.token("away");
  await platform.deliverAway!({ text: away, senderId: platform.senders[0], from: "person" });
  const again = await trial.again();
  void again.start();
  await again.heard(away);
  const marker = trial.token("behind");
  await again.deliver({ text: marker });
  await again.heard(marker);
  for (const [text, what] of [[away, "what came meanwhile"], [before, "what came before"]]) {
    const messages = host.published.filter(({ content }) => content.includes(text!));
    const ids = new Set(
      messages.map(({ chatId, messageId }) => JSON.stringify([chatId, messageId])),
    );
    expect(ids.size === 1, `${what} was published as ${ids.size} messages`);
  }
  const { sentAt } = host.published.find(({ content }) => content.includes(away))!;
  expect(sentAt !== undefined, "sentAt is absent");
}

async function refusedAtTheStart(trial: Trial): Promise<void> {
  await trial.platform.revoke!();
  void trial.start();
  await trial.patience.until(() => trial.startEnd !== undefined, "start() has not ended");
  expectRefused(trial);
}

async function refusedWhileItRuns(trial: Trial): Promise<void> {
  await trial.delivering();
  await trial.platform.revoke!();
  await trial.patience.until(async () => {
    if (trial.startEnd !== undefined) return true;
    // Some platforms say nothing before they are asked.
    try {
      await trial.send(trial.token("revoked"));
      return false;
    } catch (error) {
      if (error instanceof Broken) throw error;
      return isLoginRefused(error);
    }
  }, "nothing has said that its token was revoked");
  if (trial.startEnd !== undefined) expectRefused(trial);
}

function expectRefused(trial: Trial): void {
  const { error } = trial.startEnd!;
  const name = error instanceof Error ? error.name : "no error";
  expect(isLoginRefused(error), `${trial.startWords()}, with ${name}`);
}
