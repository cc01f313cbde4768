/**
 * The host of a channel in a test: takes what is published as strictly as the service does, and keeps
 * what is said.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { type FakeClock, fakeClock } from "../../agent/testing/fake_clock.ts";
import type { Log, LogFields } from "../../base/log.ts";
import type { ChannelHost, ChannelListener, MetStranger } from "../channel_host.ts";
import type { InboundMessage, Published } from "../../contract/inbound_message.ts";
import { checkInbound, checkStranger } from "../check_inbound.ts";
import { workerListen } from "../../channel_worker/worker_listen.ts";
import { isInside } from "../../base/state_dir.ts";
import { MemoryIntake } from "./memory_intake.ts";

/** A line that a channel has logged. */
export interface LoggedLine {
  level: "info" | "warning" | "error";
  message: string;
  fields?: LogFields;
}

/** By the folder of its channel: what waits there outlives a host. */
const intakes = new Map<string, MemoryIntake>();

/** How a host is made. */
export interface FakeHostOptions<C extends Clock = Clock> {
  /** Runtime name. */
  name: string;
  clock: C;
  /** An absolute path; by default a new folder, which `close` removes. */
  stateDir?: string;
}

export class FakeHost<C extends Clock = FakeClock> implements ChannelHost {
  readonly name: string;
  readonly stateDir: string;
  /** The same in each host. */
  stateKey: Uint8Array | undefined = new Uint8Array(32).fill(7);
  readonly clock: C;
  readonly log: Pick<Log, "info" | "warning" | "error">;
  readonly intake: MemoryIntake;
  /** Every message that a runtime gave, those that were not accepted too. */
  readonly offered: InboundMessage[] = [];
  /** Messages that were accepted, repeats too. */
  readonly published: InboundMessage[] = [];
  /** Strangers that a runtime told of. */
  readonly strangers: MetStranger[] = [];
  /** What was wrong with what a runtime wanted to publish. */
  readonly refused: string[] = [];
  readonly details: string[] = [];
  /** What it has put behind them, cut as well. */
  readonly notes: string[] = [];
  readonly lines: LoggedLine[] = [];
  /** Answers `transcribe`. */
  onTranscribe: (path: string) => Promise<string> = (path) => Promise.resolve(`said in ${path}`);
  readonly #ownsStateDir: boolean;
  readonly #known = new Map<string, string>();
  readonly #failures: Error[] = [];
  #held: Promise<void> | undefined;
  #changed = Promise.withResolvers<void>();

  private constructor(
    { name, clock, stateDir }: Required<FakeHostOptions<C>>,
    ownsStateDir: boolean,
  ) {
    this.name = name;
    this.clock = clock;
    this.stateDir = stateDir;
    this.#ownsStateDir = ownsStateDir;
    this.intake = intakes.getOrInsertComputed(stateDir, () => new MemoryIntake(() => clock.now()));
    const line = (level: LoggedLine["level"]) => (message: string, fields?: LogFields) =>
      void this.lines.push({ level, message, ...fields && { fields } });
    this.log = { info: line("info"), warning: line("warning"), error: line("error") };
  }

  /** What waits in one folder's channel waits in another's as well. */
  static copyIntake(from: string, to: string): void {
    const intake = intakes.get(from);
    if (intake !== undefined) intakes.set(to, intake.copy());
  }

  /** One whose time stands still until `clock.tick` is called. */
  static open(options: { name: string; stateDir?: string }): Promise<FakeHost<FakeClock>> {
    return FakeHost.openWith({ ...options, clock: fakeClock() });
  }

  /** One with a clock of the caller. */
  static async openWith<C extends Clock>(options: FakeHostOptions<C>): Promise<FakeHost<C>> {
    const stateDir = options.stateDir ??
      await Deno.realPath(await Deno.makeTempDir({ prefix: "channel-" }));
    return new FakeHost({ ...options, stateDir }, options.stateDir === undefined);
  }

  /**
   * Accepts a message as the service does: a second one with its id is a repeat of the first, and an edit
   * counts, as no turn runs.
   */
  async publish(message: InboundMessage): Promise<Published> {
    let checked: InboundMessage;
    try {
      checked = checkInbound(message, { runtimeName: this.name, stateDir: this.stateDir });
    } catch (error) {
      this.refused.push((error as Error).message);
      throw error;
    }
    this.offered.push(checked);
    this.#wake();
    await this.#held;
    const failure = this.#failures.shift();
    if (failure !== undefined) throw failure;
    const { chatId, messageId } = checked;
    const key = JSON.stringify([chatId, messageId ?? crypto.randomUUID()]);
    const turnId = this.#known.get(key);
    this.published.push(checked);
    this.#wake();
    if (checked.replaces !== undefined) return { kind: "edit", counts: true };
    if (turnId !== undefined) return { kind: "turn", turnId, repeated: true };
    this.#known.set(key, `turn-${this.#known.size + 1}`);
    return { kind: "turn", turnId: this.#known.get(key)!, repeated: false };
  }

  /**
   * From now on messages wait, until the returned function is called; with an error, none of those that
   * wait is accepted.
   */
  hold(): (error?: Error) => void {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {});
    this.#held = promise;
    return (error) => {
      this.#held = undefined;
      if (error === undefined) resolve();
      else reject(error);
    };
  }

  /** The next message is not accepted. */
  failNext(error: Error): void {
    this.#failures.push(error);
  }

  /** Resolves as soon as a message is offered or accepted. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  meet(stranger: MetStranger): void {
    this.strangers.push(checkStranger(stranger));
    this.#wake();
  }

  transcribe(path: string): Promise<string> {
    if (isInside(this.stateDir, path)) return this.onTranscribe(path);
    return Promise.reject(
      new Error(`Cannot transcribe "${path}": expected a file in ${this.stateDir}`),
    );
  }

  setDetail(detail: string): void {
    this.details.push(String(detail).slice(0, 200));
  }

  setNote(note: string): void {
    this.notes.push(String(note).slice(0, 100));
  }

  listen(
    address: { host: string; port: number },
    handler: (request: Request) => Promise<Response>,
  ): Promise<ChannelListener> {
    return workerListen(address, handler, { runtimeName: this.name, log: this.log });
  }

  /** Removes its folder, where it made it. */
  async close(): Promise<void> {
    if (this.#ownsStateDir) await Deno.remove(this.stateDir, { recursive: true });
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
