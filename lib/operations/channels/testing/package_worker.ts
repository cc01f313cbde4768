/**
 * A package's runtime and check in real workers, with the permissions of its manifest.
 *
 * @module
 */

import { systemClock } from "../../../base/clock.ts";
import type { BuiltChannel } from "../../../channel/channel_link.ts";
import type { ChannelDescriptor, SetupFinding } from "../../../channel/descriptor.ts";
import type { InboundMessage } from "../../../contract/inbound_message.ts";
import { fillPermissions } from "../../../channel/permission_fields.ts";
import { MemoryIntake } from "../../../channel/testing/memory_intake.ts";
import { buildChannel } from "../../../channel_worker/build_channel.ts";
import type { WorkerSource } from "../../../channel_worker/worker_source.ts";
import type { Log } from "../../../base/log.ts";
import { ChannelWorkers } from "../channel_workers.ts";
import { workerProcess } from "./worker_process.ts";

/** What is put into a worker. */
export interface PackageWorkerOptions {
  manifest: ChannelDescriptor;
  /** Folder of the package: `new URL("./", import.meta.url)`. */
  folder: URL;
  config: Readonly<Record<string, unknown>>;
  secrets?: readonly string[];
}

const silent: Log = { debug() {}, info() {}, warning() {}, error() {} };

/** Has a folder of its own, which goes when it is disposed. */
export class PackageWorker implements AsyncDisposable {
  readonly stateDir: string;
  readonly #options: PackageWorkerOptions;
  readonly #folder: string;
  readonly #intake = new MemoryIntake();
  readonly #workers: ChannelWorkers;

  private constructor(options: PackageWorkerOptions, folder: string) {
    this.#options = options;
    this.stateDir = `${folder}/state`;
    this.#folder = folder;
    this.#workers = new ChannelWorkers({
      ...workerProcess(`${folder}/run`),
      sourceOf: () => this.#source("runtime"),
      packages: { ensure: () => Promise.resolve(), shutdown: () => Promise.resolve() },
      forbidden: [],
      scrub: (text) => text,
      clock: systemClock,
      log: silent,
    });
  }

  static async open(options: PackageWorkerOptions): Promise<PackageWorker> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "channel-" }));
    const worker = new PackageWorker(options, folder);
    await Deno.mkdir(worker.stateDir);
    return worker;
  }

  /** What the package's check says of values, with the permissions of the section. */
  validate(values: Readonly<Record<string, unknown>>): Promise<SetupFinding[]> {
    return this.#workers.validate(this.#source("validator"), values);
  }

  /** The runtime, not started; `inbound` is given each message, which then counts as a turn's. */
  build(inbound: (message: InboundMessage) => void): Promise<BuiltChannel> {
    const { name, senderVerified } = this.#options.manifest;
    let turns = 0;
    return buildChannel(this.#workers.open, {
      spec: { runtimeName: name, channel: name, senderVerified },
      inbound(_spec, message) {
        inbound(message);
        return Promise.resolve({ kind: "turn", turnId: `t${++turns}`, repeated: false });
      },
      intake: this.#intake,
      onStranger: () => {},
      transcribe: () => Promise.reject(new Error("Transcription is off")),
      stateDir: this.stateDir,
      clock: systemClock,
      log: silent,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workers.shutdown();
    await Deno.remove(this.#folder, { recursive: true });
  }

  #source(kind: "runtime" | "validator"): WorkerSource {
    const { manifest, folder, config, secrets = [] } = this.#options;
    const { name, runtime, setup, permissions, dependencies } = manifest;
    const [path, exportName] = (kind === "runtime" ? runtime : setup.validator!).split(":");
    return {
      boot: {
        runtimeName: name,
        module: new URL(path!.slice(`channels/${name}/`.length), folder).href,
        exportName: exportName!,
        kind,
        config,
        stateDir: this.stateDir,
        secrets: [...secrets],
        allowLocalServiceAccess: true,
      },
      permissions: fillPermissions(permissions, config, `channels.${name}`),
      dependencies,
    };
  }
}
