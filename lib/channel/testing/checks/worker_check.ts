/**
 * A package in a process of its own, with what its manifest asks for and nothing else.
 *
 * @module
 */

import { systemClock } from "../../../base/clock.ts";
import { STATE_KEY, workerProcess } from "../../../operations/channels/testing/worker_process.ts";
import { ChannelWorkers } from "../../../operations/channels/channel_workers.ts";
import type { Log } from "../../../base/log.ts";
import type { BuiltChannel } from "../../channel_link.ts";
import type { InboundMessage } from "../../../contract/inbound_message.ts";
import { buildChannel } from "../../../channel_worker/build_channel.ts";
import { channelStateDir } from "../../../base/state_dir.ts";
import { workerSource } from "../../../registry/worker_source_of.ts";
import { Broken, type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import type { ChannelPlatform } from "../channel_platform.ts";
import type { ChannelSubject } from "../channel_subject.ts";
import type { LoggedLine } from "../fake_host.ts";
import { MemoryIntake } from "../memory_intake.ts";
import { squeezed } from "../trial.ts";

export const WORKER_CHECKS: readonly ChannelCheck[] = [{
  id: "place",
  rule: "The runtime works in a process that has the permissions of its manifest and no others.",
  says: "it does not work in its own process; name under permissions what it reaches",
  run: worksInWorker,
}];

async function worksInWorker(subject: ChannelSubject): Promise<void> {
  const usable = await subject.usable();
  const { name } = usable.descriptor;
  const platform = await subject.openPlatform();
  const dataDir = await Deno.realPath(await Deno.makeTempDir({ prefix: "channel-" }));
  const lines: LoggedLine[] = [];
  const log = logTo(lines);
  const channels = {
    sendProgress: true,
    sendToolHints: true,
    showReasoning: true,
    allowLocalServiceAccess: true,
  } as Parameters<typeof workerSource>[0]["config"]["channels"];
  const section = { enabled: true, allowFrom: ["*"], ...platform.section };
  const workers = new ChannelWorkers({
    sourceOf: () =>
      workerSource(
        { config: { channels }, dataDir },
        usable,
        { runtimeName: name, section },
        "runtime",
      ),
    // A test fetches nothing.
    packages: { ensure: () => Promise.resolve(), shutdown: () => Promise.resolve() },
    ...workerProcess(`${dataDir}/run`),
    forbidden: [],
    scrub: (text) => text,
    clock: systemClock,
    log,
  });
  const heard: InboundMessage[] = [];
  let channel: BuiltChannel | undefined;
  try {
    await platform.prepare?.(channelStateDir(dataDir, name), STATE_KEY);
    channel = await buildChannel(workers.open, {
      spec: { runtimeName: name, channel: name, senderVerified: false },
      inbound: (_spec, message) => {
        heard.push(message);
        return Promise.resolve({ kind: "turn", turnId: `turn-${heard.length}`, repeated: false });
      },
      intake: new MemoryIntake(),
      onStranger: () => {},
      transcribe: () => Promise.reject(new Error("Transcription is off")),
      stateDir: channelStateDir(dataDir, name),
      clock: systemClock,
      log,
    });
    await talk(subject, channel, platform, heard);
  } catch (error) {
    const said = lines.map(({ message, fields }) => `${message} ${JSON.stringify(fields ?? {})}`);
    throw new Broken([wordsOf(error), ...said.slice(0, 3)].join("; "));
  } finally {
    await channel?.stop(5_000);
    await workers.shutdown();
    await platform.close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** Both ways, once. */
async function talk(
  { patience, name }: ChannelSubject,
  channel: BuiltChannel,
  platform: ChannelPlatform,
  heard: readonly InboundMessage[],
): Promise<void> {
  let end: string | undefined;
  channel.start().then(
    () => end = "start() has resolved",
    (error) => end = `start() has rejected: ${wordsOf(error)}`,
  );
  const text = `in-a-worker-${crypto.randomUUID().slice(0, 8)}`;
  let last: unknown;
  await patience.until(async () => {
    expect(end === undefined, `${end}`);
    const { chatId, metadata = {} } = platform;
    const message = { id: text, channel: name, chatId, content: text, media: [], metadata };
    return await channel.send(message).then(() => true, (error) => {
      last = error;
      return false;
    });
  }, "no message was taken").catch((error) => {
    throw last === undefined ? error : new Broken(`${wordsOf(error)}: ${wordsOf(last)}`);
  });
  await patience.until(
    () => platform.sent().some((sent) => squeezed(sent.text).includes(text)),
    "what it sent has not arrived",
  );
  const question = `to-a-worker-${crypto.randomUUID().slice(0, 8)}`;
  const [senderId] = platform.senders;
  const delivered = platform.deliver({ text: question, senderId, from: "person" });
  await patience.settled(delivered, "the platform could not deliver a message");
  await patience.until(
    () => heard.some(({ content }) => content.includes(question)),
    "what it heard was not published",
  );
}

function logTo(lines: LoggedLine[]): Log {
  const line = (level: LoggedLine["level"]) => (message: string, fields?: object) =>
    void lines.push({ level, message, fields: { ...fields } });
  return { debug: () => {}, info: line("info"), warning: line("warning"), error: line("error") };
}
