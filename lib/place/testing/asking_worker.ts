/** Stands for the service: asks for a place, works with the channel in it, and says what it saw. */

import { systemClock } from "../../base/clock.ts";
import type { OutboundMessage } from "../../contract/outbound_message.ts";
import { buildChannel, type BuildChannelDeps } from "../build_channel.ts";
import { PlaceDoor } from "../place_door.ts";

const scope = self as unknown as Pick<Worker, "postMessage" | "onmessage">;
const door = new PlaceDoor((message) => scope.postMessage(message));
scope.onmessage = ({ data }) => door.receive(data);

const line = () => {};
const deps: BuildChannelDeps = {
  spec: { runtimeName: "probe", channel: "probe", senderVerified: false },
  inbound: (_spec, { content }) =>
    Promise.resolve({ kind: "turn", turnId: content, repeated: false }),
  transcribe: () => Promise.resolve(""),
  stateDir: "/none",
  clock: systemClock,
  log: { debug: line, info: line, warning: line, error: line },
};

const order = (content: string): OutboundMessage => ({
  id: "m",
  channel: "probe",
  chatId: "c",
  content,
  media: [],
  metadata: {},
});
const wordsOf = (error: Error) => error.message;

const channel = await buildChannel(door.open, deps);
const running = new Promise<boolean>((resolve) => {
  channel.onChange = () => channel.isRunning && resolve(true);
});
channel.start().catch(() => {});
const seen = {
  running: await running,
  published: await channel.send(order("publish hello")).catch(wordsOf),
  lost: await channel.send(order("exit")).then(() => "", () => channel.lost),
  refused: await buildChannel(door.open, {
    ...deps,
    spec: { ...deps.spec, runtimeName: "other" },
  }).catch(wordsOf),
};
scope.postMessage({ type: "seen", seen });
