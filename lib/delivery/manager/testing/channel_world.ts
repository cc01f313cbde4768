/**
 * Channels that a test makes fail, run and end by hand, with deliveries that are watched: never two
 * running links of one runtime name, none that is delivered over after it was stopped.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { assert, assertEquals } from "@std/assert";
import { type FakeClock, fakeClock } from "../../../agent/testing/fake_clock.ts";
import type { BuiltChannel } from "../../../channel/channel_link.ts";
import type { ChannelSpec } from "../../../channel/channel_spec.ts";
import { LoginRefusedError } from "../../../channel/delivery_error.ts";
import type { DeliveryCounts } from "../../../channel/deliveries.ts";
import { createChannelManager } from "../create_channel_manager.ts";
import type { ChannelManager } from "../channel_manager.ts";

const NO_COUNTS: DeliveryCounts = { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 };

/** A channel that was built, in the hands of a test. */
export interface TestChannel extends BuiltChannel {
  readonly spec: ChannelSpec;
  state: "built" | "started" | "over";
  /** It says that it runs, or not. */
  run(isRunning?: boolean): void;
  say(detail: string): void;
  /** Its start returns, or rejects with these words. */
  end(error?: string): void;
  lose(reason: string): void;
  /** Its platform does not let it in; `byCall`: a call that was to deliver something found that. */
  refuse(reason: string, byCall?: boolean): void;
}

export interface ChannelWorld {
  manager: ChannelManager;
  clock: FakeClock;
  /** All that were built, in order. */
  built: TestChannel[];
  /** What happened, such as `build a1`, `start a1`, `attach a1`, `detach a1`, `stop a1`. */
  events: string[];
  /** What the log was warned of. */
  warnings: Record<string, unknown>[];
  /** Called for each build; may reject. */
  onBuild: (spec: ChannelSpec) => Promise<void> | void;
  /** Whether one runs as soon as it is started. */
  runsAtOnce: boolean;
  /** Called before each attach; may throw. */
  onAttach: () => void;
  /** What a detach waits for. */
  sending: Promise<void> | undefined;
  /** What a stop waits for, and the grace that it was given. */
  onStop: (channel: TestChannel, graceMs: number) => Promise<void> | void;
  /** The one that runs under a name. */
  running(runtimeName: string): TestChannel | undefined;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  tick(ms: number): Promise<void>;
  /** `<runtime name> <state>` of each. */
  states(): string[];
}

/** A spec of a channel that is enabled. */
export function testSpec(runtimeName: string, changes: Partial<ChannelSpec> = {}): ChannelSpec {
  const [channel, instanceId] = runtimeName.split(".");
  return {
    runtimeName,
    channel: channel!,
    ...instanceId !== undefined && { instanceId },
    displayName: runtimeName.toUpperCase(),
    enabled: true,
    capabilities: [],
    senderVerified: false,
    flags: { sendProgress: true, sendToolHints: true, showReasoning: true },
    sendMaxRetries: 3,
    catchUpS: 86_400,
    fingerprint: "1",
    ...changes,
  };
}

/** A manager with fake time and channels; `random` is the middle, so that waits are whole seconds. */
export function channelWorld(): ChannelWorld {
  const clock = fakeClock();
  const attached = new Map<string, TestChannel>();
  const world: ChannelWorld = {
    clock,
    built: [],
    events: [],
    warnings: [],
    onBuild: () => {},
    runsAtOnce: true,
    onAttach: () => {},
    sending: undefined,
    onStop: () => {},
    running: (name) =>
      world.built.find(({ runtimeName, state }) => runtimeName === name && state === "started"),
    async settle() {
      for (let turn = 0; turn < 5; turn++) await new Promise<void>((go) => setImmediate(go));
    },
    async tick(ms) {
      clock.tick(ms);
      await world.settle();
    },
    states: () => world.manager.status().map(({ runtimeName, state }) => `${runtimeName} ${state}`),
    manager: createChannelManager({
      async build(spec) {
        note("build", spec);
        await world.onBuild(spec);
        const channel = testChannel(spec);
        world.built.push(channel);
        return channel;
      },
      deliveries: {
        attach(link) {
          const channel = link as TestChannel;
          world.onAttach();
          assertEquals(channel.state, "started", "attached to what does not run");
          assert(!attached.has(link.runtimeName), "attached twice");
          attached.set(link.runtimeName, channel);
          note("attach", channel.spec);
          return async () => {
            note("detach", channel.spec);
            await world.sending;
            attached.delete(link.runtimeName);
          };
        },
        wake: (name) => void world.events.push(`wake ${name}`),
        counts: () => NO_COUNTS,
      },
      clock,
      random: () => 0.5,
      log: {
        info: () => {},
        warning: (message, fields) => void world.warnings.push({ message, ...fields }),
      },
    }),
  };

  function note(what: string, { runtimeName, fingerprint }: ChannelSpec): void {
    world.events.push(`${what} ${runtimeName}${fingerprint}`);
  }

  function testChannel(spec: ChannelSpec): TestChannel {
    const started = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<string>();
    const refused = Promise.withResolvers<string>();
    started.promise.catch(() => {});
    const channel: TestChannel = {
      spec,
      runtimeName: spec.runtimeName,
      supportsStreaming: false,
      state: "built",
      isRunning: false,
      detail: undefined,
      onChange: undefined,
      lost: lost.promise,
      refused: refused.promise,
      start() {
        assertEquals(channel.state, "built", "started twice, or when it was over");
        assertEquals(world.running(spec.runtimeName), undefined, "two run under one name");
        channel.state = "started";
        note("start", spec);
        if (world.runsAtOnce) Object.assign(channel, { isRunning: true });
        return started.promise;
      },
      async stop(graceMs) {
        if (channel.state === "over") return;
        note("stop", spec);
        await world.onStop(channel, graceMs);
        over();
        started.resolve();
      },
      verify: () =>
        Promise.resolve({
          ...{ deviceId: spec.runtimeName, key: "key", isVerified: false, state: "idle" },
        }),
      send: () => Promise.resolve(),
      sendDelta: () => Promise.resolve(),
      sendReasoning: () => Promise.resolve(),
      sendReasoningDelta: () => Promise.resolve(),
      sendReasoningEnd: () => Promise.resolve(),
      run(isRunning = true) {
        Object.assign(channel, { isRunning });
        channel.onChange?.();
      },
      say(detail) {
        Object.assign(channel, { detail });
        channel.onChange?.();
      },
      end(error) {
        over();
        if (error === undefined) started.resolve();
        else started.reject(new Error(error));
      },
      refuse(reason, byCall = false) {
        if (byCall) return refused.resolve(reason);
        over();
        started.reject(new LoginRefusedError(reason));
      },
      lose(reason) {
        over();
        lost.resolve(reason);
        started.reject(new Error(`The channel is gone: ${reason}`));
      },
    };
    function over(): void {
      channel.state = "over";
      Object.assign(channel, { isRunning: false });
    }
    return channel;
  }
  return world;
}
