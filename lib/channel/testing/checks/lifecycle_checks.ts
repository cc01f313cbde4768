/**
 * How a runtime starts and stops.
 *
 * @module
 */

import { Broken, type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import { onTrial, type Trial } from "../trial.ts";

export const LIFECYCLE_CHECKS: readonly ChannelCheck[] = [
  {
    id: "start_blocks",
    rule:
      "start() goes on until stop() is called, and isRunning is true meanwhile and not afterwards.",
    says: "start() has to wait until stop() is called, and isRunning to follow it",
    run: (subject) => onTrial(subject, startBlocks),
  },
  {
    id: "stop_twice",
    rule: "stop() does nothing the second time.",
    says: "stop() has to be harmless the second time",
    run: (subject) =>
      onTrial(subject, async (trial) => {
        await trial.running();
        await Promise.all([stopped(trial), stopped(trial)]);
        await stopped(trial);
      }),
  },
  {
    id: "stop_before_start",
    rule: "stop() resolves on a runtime that was never started, which does not run from then on.",
    says: "stop() has to resolve before start(), and start() to end at once behind it",
    run: (subject) =>
      onTrial(subject, async (trial) => {
        await stopped(trial);
        await trial.patience.settled(trial.start(), "start() behind stop() has not ended");
        expect(!trial.channel.isRunning, "isRunning is true behind it");
      }),
  },
  {
    id: "stop_while_starting",
    rule: "stop() ends a start that is under way, also while the platform cannot be reached.",
    says: "stop() has to end a start that is under way",
    run: stopWhileStarting,
  },
  {
    id: "nothing_left",
    rule: "After stop() nothing is open: no connection, no timer, no listener, no file.",
    says: "something is left open after stop(); close it, or cancel its timer",
    run: (subject) =>
      onTrial(subject, async (trial) => {
        await trial.delivering();
        await stopped(trial);
        await trial.end();
        const left = trial.host.clock.timers();
        expect(left === 0, `${left} timers of host.clock wait`);
      }),
  },
];

async function startBlocks(trial: Trial): Promise<void> {
  expect(!trial.channel.isRunning, "isRunning is true before start()");
  await trial.delivering();
  expect(trial.startEnd === undefined, `${trial.startWords()} though nobody called stop()`);
  expect(trial.channel.isRunning, "isRunning is false while start() goes on");
  await stopped(trial);
  await trial.end();
  const { error } = trial.startEnd!;
  expect(error === undefined, `start() has rejected because of stop(): ${wordsOf(error)}`);
  expect(!trial.channel.isRunning, "isRunning is true behind stop()");
}

async function stopWhileStarting(subject: Parameters<typeof onTrial>[0]): Promise<void> {
  await onTrial(subject, async (trial) => {
    const started = trial.start();
    await stopped(trial);
    await trial.patience.settled(started, "start() has not ended");
    expect(!trial.channel.isRunning, "isRunning is true behind it");
  });
  await onTrial(subject, async (trial) => {
    if (trial.platform.goDown === undefined) return;
    await trial.platform.goDown();
    const started = trial.start();
    // As far as it comes by itself.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await stopped(trial);
    await trial.patience.settled(started, "start() has not ended while the platform is down");
  });
}

async function stopped(trial: Trial): Promise<void> {
  try {
    await trial.stop();
  } catch (error) {
    if (error instanceof Broken) throw error;
    throw new Broken(`stop() has rejected: ${wordsOf(error)}`);
  }
}
