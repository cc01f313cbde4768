/**
 * Real workers over modules of tests, in a home that is gone afterwards.
 *
 * @module
 */

import { join } from "@std/path";
import type { Clock } from "../../../base/clock.ts";
import { systemClock } from "../../../base/clock.ts";
import type { BuiltChannel } from "../../../channel/channel_link.ts";
import type { ChannelPermissions } from "../../../channel/descriptor.ts";
import type { OutboundMessage } from "../../../contract/outbound_message.ts";
import { MemoryIntake } from "../../../channel/testing/memory_intake.ts";
import { buildChannel, type BuildChannelDeps } from "../../../channel_worker/build_channel.ts";
import type { WorkerSource } from "../../../channel_worker/worker_source.ts";
import type { WorkerBoot } from "../../../channel_worker/protocol.ts";
import { channelStateDir } from "../../../base/state_dir.ts";
import type { Log } from "../../../base/log.ts";
import { ChannelWorkers } from "../channel_workers.ts";
import { workerProcess } from "./worker_process.ts";
import type { PackageFetcher } from "../../../packages/package_fetcher.ts";

const TESTING = new URL("../../../channel_worker/testing/", import.meta.url);

/** A line of a log. */
export interface Line {
  level: string;
  message: string;
  [field: string]: unknown;
}

/** What a source is made with. */
export interface SourceOptions extends Partial<Omit<WorkerBoot, "module">> {
  /** File of lib/channel_worker/testing. */
  file?: string;
  permissions?: Partial<ChannelPermissions>;
  dependencies?: string[];
}

/** How a fixture differs from the default. */
export interface FixtureOptions {
  packages?: Pick<PackageFetcher, "ensure" | "shutdown">;
  sandbox?: "auto" | "off";
  /** What the name of its home begins with. */
  prefix?: string;
}

export class WorkerFixture {
  readonly home: string;
  readonly dataDir: string;
  readonly workers: ChannelWorkers;
  readonly lines: Line[] = [];
  readonly intake = new MemoryIntake();
  readonly log: Log;
  readonly #sources = new Map<string, WorkerSource>();

  private constructor(home: string, { packages, sandbox }: FixtureOptions) {
    this.home = home;
    this.dataDir = join(home, "data");
    const line = (level: string) => (message: string, fields?: object) =>
      void this.lines.push({ level, message, ...fields });
    this.log = {
      debug: line("debug"),
      info: line("info"),
      warning: line("warning"),
      error: line("error"),
    };
    this.workers = new ChannelWorkers({
      sourceOf: (name) => {
        const source = this.#sources.get(name);
        if (source === undefined) throw new Error(`nobody knows ${name}`);
        return source;
      },
      packages: packages ?? { ensure: () => Promise.resolve(), shutdown: () => Promise.resolve() },
      ...workerProcess(join(home, "run"), { sandbox }),
      forbidden: [home],
      scrub: (text) => text.replaceAll("a-secret-token", "[secret]"),
      clock: systemClock,
      log: this.log,
    });
  }

  static async open(options: FixtureOptions = {}): Promise<WorkerFixture> {
    const home = await Deno.realPath(
      await Deno.makeTempDir({ prefix: options.prefix ?? "worker-" }),
    );
    return new WorkerFixture(home, options);
  }

  stateDir(runtimeName = "probe"): string {
    return channelStateDir(this.dataDir, runtimeName);
  }

  /** What a worker is made of; by default the probe without any permission of its own. */
  source(
    { file = "probe_runtime.ts", permissions, dependencies = [], ...boot }: SourceOptions = {},
  ): WorkerSource {
    const runtimeName = boot.runtimeName ?? "probe";
    const source: WorkerSource = {
      boot: {
        runtimeName,
        exportName: "ProbeRuntime",
        kind: "runtime",
        config: { allowFrom: ["*"] },
        stateDir: this.stateDir(runtimeName),
        secrets: ["a-secret-token"],
        allowLocalServiceAccess: false,
        ...boot,
        module: new URL(file, TESTING).href,
      },
      permissions: { hosts: [], paths: [], variables: [], ...permissions },
      dependencies,
    };
    this.#sources.set(runtimeName, source);
    return source;
  }

  /** Builds the channel of a source, as the service does. */
  build(
    options: SourceOptions = {},
    deps: Partial<BuildChannelDeps> & { clock?: Clock } = {},
  ): Promise<BuiltChannel> {
    const { runtimeName, stateDir } = this.source(options).boot;
    return buildChannel(this.workers.open, {
      spec: { runtimeName, channel: runtimeName, senderVerified: false },
      inbound: () => Promise.resolve({ kind: "turn", turnId: "t", repeated: false }),
      intake: this.intake,
      onStranger: () => {},
      transcribe: (path) => Promise.resolve(`said in ${path}`),
      stateDir,
      clock: systemClock,
      log: this.log,
      ...deps,
    });
  }

  async close(): Promise<void> {
    await this.workers.shutdown();
    await Deno.remove(this.home, { recursive: true });
  }
}

/** A message that tells the probe what to do. */
export function order(content: string, metadata: Record<string, unknown> = {}): OutboundMessage {
  return { id: "m", channel: "probe", chatId: "c", content, media: [], metadata };
}

/** What the probe says that something came to. */
export async function told(
  channel: BuiltChannel,
  content: string,
  metadata: Record<string, unknown> = {},
): Promise<string> {
  try {
    await channel.send(order(content, metadata));
    return "sent";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Resolves as soon as something holds of a channel. */
export function changed(channel: BuiltChannel, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      channel.onChange = undefined;
      resolve();
    };
    channel.onChange = look;
    look();
  });
}
