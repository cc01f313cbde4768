/**
 * A home with its configuration and its audit, and channels whose workers are played; for tests.
 *
 * @module
 */

import { systemClock } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ConnectAnswer, SetupFinding } from "../../../channel/descriptor.ts";
import { accountsAdapter } from "../../../channel/management/accounts_adapter.ts";
import type {
  BrokenChannel,
  ChannelRegistry,
  UsableChannel,
} from "../../../registry/channel_registry.ts";
import { testChannel, testRegistry } from "../../../registry/testing/test_registry.ts";
import { testDescriptor } from "../../../channel/setup/testing/test_descriptor.ts";
import type { WorkerSource } from "../../../channel_worker/worker_source.ts";
import { type TempHome, tempHome } from "../../../config/testing/temp_home.ts";
import { AUDIT_FILE, openAudit } from "../../../audit/log.ts";
import type { AuditRecord } from "../../../audit/record.ts";
import type { ChannelListing, ChannelValues } from "../channel_listing.ts";
import type { ConnectRequest } from "../connects.ts";
import type { ChannelWorkers } from "../channel_workers.ts";
import { ChannelOperator } from "../operate_channels.ts";

/** What is played. */
export interface PlayedWorkers {
  validate?: (values: Readonly<Record<string, unknown>>, source: WorkerSource) => SetupFinding[];
  /** Answers of a connector, by what it is asked. */
  handle?: (
    action: "start" | "poll" | "cancel",
    query: Readonly<Record<string, string>>,
  ) => ConnectAnswer | Promise<ConnectAnswer>;
  refresh?: ChannelWorkers["refresh"];
}

/** What an operator may do, as data. */
export type ChannelRequest =
  | ({ op: "channels.validate" | "channels.set" } & ChannelValues)
  | ({ op: "channels.enable" | "channels.disable" } & Omit<ChannelValues, "values">)
  | ({ op: "channels.connect" } & Omit<ConnectRequest, "by">);

/** How a fixture differs from the default. */
export interface SettingsFixtureOptions extends PlayedWorkers {
  config?: unknown;
  env?: Record<string, string>;
  channels?: UsableChannel[];
  broken?: BrokenChannel[];
  clock?: Clock;
}

export interface SettingsFixture extends AsyncDisposable {
  home: TempHome;
  registry: ChannelRegistry;
  operator: ChannelOperator;
  /** What workers were asked, such as `validate chat`. */
  asked: string[];
  /** Connectors that were closed. */
  closed: number;
  logged: string[];
  reloads: number;
  /** Runtime names of what was connected, and how often specs were told without a change. */
  connected: string[];
  told: number;
  answer(request: ChannelRequest): Promise<unknown>;
  set(values: Record<string, unknown>, instanceId?: string, name?: string): Promise<ChannelListing>;
  listing(name?: string): Promise<ChannelListing>;
  records(): Promise<AuditRecord[]>;
}

/** `chat` has one instance, a check and a connector; `team` has accounts. */
export function testChannels(): UsableChannel[] {
  const descriptor = testDescriptor();
  const team = testDescriptor({
    name: "team",
    displayName: "Team",
    runtime: "channels/team/runtime.ts:TeamChannel",
  });
  return [
    {
      ...testChannel(descriptor),
      validator: { module: "test:/chat/validation.ts", exportName: "validate" },
      connector: { module: "test:/chat/connect.ts", exportName: "connector" },
    },
    testChannel(team, accountsAdapter(team)),
  ];
}

/** Makes it. */
export async function settingsFixture(
  options: SettingsFixtureOptions = {},
): Promise<SettingsFixture> {
  const home = await tempHome(options.env);
  if (options.config !== undefined) await home.write(options.config);
  const { paths, env } = home;
  const logged: string[] = [];
  const say = (message: string, fields?: object) =>
    void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log = { debug: say, info: say, warning: say, error: say };
  const audit = await openAudit({ dir: paths.auditDir, keysDir: paths.keysDir, log });
  const registry = testRegistry(options.channels ?? testChannels(), options.broken);
  const fixture = {
    ...{ asked: [] as string[], closed: 0, reloads: 0 },
    ...{ connected: [] as string[], told: 0 },
  };
  const { validate, handle, refresh } = options;
  const operator = new ChannelOperator({
    registry,
    paths,
    env,
    audit,
    log,
    clock: options.clock ?? systemClock,
    reload: () => {
      fixture.reloads++;
      return Promise.resolve();
    },
    connected: (name) => void fixture.connected.push(name),
    tellSpecs: () => void fixture.told++,
    workers: {
      validate(source, values) {
        fixture.asked.push(`validate ${source.boot.runtimeName}`);
        return Promise.resolve(validate?.(values, source) ?? []);
      },
      connector(source) {
        fixture.asked.push(`connector ${source.boot.runtimeName}`);
        return Promise.resolve({
          handle: async (action, query) => {
            fixture.asked.push(action);
            return await handle!(action, query);
          },
          close: () => void fixture.closed++,
        });
      },
      refresh(source, instanceId) {
        fixture.asked.push(`refresh ${source.boot.runtimeName}`);
        return refresh?.(source, instanceId) ?? Promise.resolve(undefined);
      },
    },
  });
  const answer = async (request: ChannelRequest): Promise<unknown> => {
    const by = "token:test";
    switch (request.op) {
      case "channels.validate":
        return { findings: await operator.validate(request) };
      case "channels.set":
        return await operator.set(request, by);
      case "channels.connect":
        return { connect: await operator.connect({ ...request, by }) };
      default:
        return await operator.switchTo(request.op === "channels.enable", request, by);
    }
  };
  return Object.assign(fixture, {
    home,
    registry,
    operator,
    logged,
    answer,
    async set(values: Record<string, unknown>, instanceId?: string, name = "chat") {
      const request = { op: "channels.set" as const, name, values, instanceId };
      return (await answer(request) as { channel: ChannelListing }).channel;
    },
    async listing(name = "chat") {
      return (await operator.list()).find((each) => each.name === name)!;
    },
    async records() {
      const text = await Deno.readTextFile(`${paths.auditDir}/${AUDIT_FILE}`);
      const lines = text.split("\n").filter((line) => line !== "");
      return lines.map((line) => JSON.parse(line) as AuditRecord);
    },
    async [Symbol.asyncDispose]() {
      await operator.shutdown();
      await audit.close();
      await home[Symbol.asyncDispose]();
    },
  });
}
