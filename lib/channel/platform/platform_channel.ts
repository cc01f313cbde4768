/**
 * The framework of chat platforms: a runtime that connects by a driver, again and again, and does all that
 * is not the platform's own.
 *
 * Invariants:
 * - Reconnecting, back-off and what people are told of it are here, and nowhere in a driver.
 * - What a driver receives is on the disk, with how far it has read, before the platform is told so.
 * - A login that is refused ends the channel, whichever call learns of it.
 *
 * @module
 */

import { abortable } from "../../base/abortable.ts";
import { BaseChannel, type PackageConfig } from "../base_channel.ts";
import type { ChannelHost } from "../channel_host.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../delivery_error.ts";
import type { OutboundMessage, StreamDelta } from "../../contract/outbound_message.ts";
import type { Verification, VerifyAction } from "../verification.ts";
import type { ClickDeps, ClickEntry } from "./approvals.ts";
import { backoffMs } from "./backoff.ts";
import type { OutgoingFile, PlatformDriver, PlatformSession } from "./driver.ts";
import { failedCall, ofRepeatable, pauseOf, reasonOf } from "./failed_call.ts";
import { removeLeftFiles } from "./inbound_files.ts";
import { Intake } from "./intake.ts";
import { Memory } from "./memory.ts";
import { Outlet } from "./outlet.ts";
import { platformWordsOf } from "./platform_words.ts";
import { sleep } from "./sleep.ts";
import { Strangers } from "./strangers.ts";
import { TakeMessage } from "./take_message.ts";

/** A connection that lasts so long was a good one, milliseconds. */
const STEADY_MS = 10_000;

/** How long messages that are being sent have when the channel ends, milliseconds. */
const SEND_GRACE_MS = 2_000;

/** Between two warnings of the same, milliseconds. */
const WARN_EVERY_MS = 10 * 60_000;

/** Things of one kind that are kept: threads, approvals. */
const MAX_REMEMBERED = 5_000;

/** What is there once somebody is logged in. */
interface Open<Item, Ref, File> {
  driver: PlatformDriver<Item, Ref, File>;
  outlet: Outlet<Ref, File>;
  taking: TakeMessage<Item>;
}

export abstract class PlatformChannel<
  Config extends PackageConfig,
  Item,
  Ref,
  File = OutgoingFile,
> extends BaseChannel<Config> {
  /** The platform's name, for people. */
  protected abstract readonly platform: string;
  /** No more is read. */
  readonly #stopping = new AbortController();
  /** No more is sent. */
  readonly #ending = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #strangers: Strangers;
  #started: Promise<void> | undefined;
  #opening: Promise<PlatformDriver<Item, Ref, File>> | undefined;
  #connecting: Promise<unknown> | undefined;
  #open: Open<Item, Ref, File> | undefined;
  #intake: Intake<Item | ClickEntry> | undefined;
  #isRunning = false;
  #hasBegun = false;
  /** Since when it is connected, by `clock.elapsed`; Infinity while it is not. */
  #readyMs = Infinity;
  #who = "";
  #problem = "it is not started";
  #warning: string | undefined;
  #warnedMs = -Infinity;
  #detail = "";

  constructor(config: Config, host: ChannelHost) {
    super(config, host);
    this.#strangers = new Strangers(host);
  }

  /** Logs in. Called again after a pause where it rejects with what another try may mend. */
  protected abstract open(session: PlatformSession<Item>): Promise<PlatformDriver<Item, Ref, File>>;

  /**
   * An error that is none of a delivery's and of no call's (`failedCall`), as a delivery fails. What is given
   * back as it is, is none of the platform's; default: all.
   */
  protected classify(error: unknown): unknown {
    return error;
  }

  /** Puts away what `open` has made and is no part of the driver. */
  protected closed(): void {}

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override start(): Promise<void> {
    if (this.#started !== undefined) {
      return Promise.reject(new Error(`Cannot start the ${this.platform} channel a second time`));
    }
    return this.#started = this.#run();
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#problem = "it was stopped";
    this.#stopping.abort(new DOMException("The channel is stopping", "AbortError"));
    // What goes wrong is told by start.
    await this.#started?.catch(() => {});
  }

  override send(message: OutboundMessage): Promise<void> {
    return this.#sendBy((outlet) => outlet.send(message));
  }

  override sendDelta(piece: StreamDelta): Promise<void> {
    return this.#sendBy((outlet) => outlet.push(piece));
  }

  override async verify(action: VerifyAction): Promise<Verification> {
    if (this.#open === undefined) throw new NotConnectedError(this.#problem);
    const { driver } = this.#open;
    if (driver.verify === undefined) {
      throw new PermanentDeliveryError(`${this.platform} has no session to verify`);
    }
    return await driver.verify(action);
  }

  async #sendBy(send: (outlet: Outlet<Ref, File>) => Promise<void>): Promise<void> {
    if (!this.#isRunning || this.#open === undefined) throw new NotConnectedError(this.#problem);
    const sending = send(this.#open.outlet);
    this.#sending.add(sending);
    try {
      await sending;
    } finally {
      this.#sending.delete(sending);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { stateDir, clock, log } = this.host;
    if (signal.aborted) return;
    this.#isRunning = true;
    let memory: Memory | undefined;
    try {
      await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
      await removeLeftFiles(stateDir);
      memory = new Memory(stateDir, MAX_REMEMBERED);
      this.#intake = await Intake.open<Item | ClickEntry>({
        store: this.host.intake,
        stateDir,
        take: (entry, ending) => this.#take(entry, ending),
        note: (text) => this.host.setNote(text),
        clock,
        log,
      });
      await this.#stayConnected(memory);
      if (signal.reason instanceof LoginRefusedError) throw signal.reason;
    } finally {
      this.#isRunning = false;
      await this.#close();
      memory?.close();
    }
  }

  /** One connection after the other, until it is stopped. Rejects where another try is of no use. */
  async #stayConnected(memory: Memory): Promise<void> {
    const { signal } = this.#stopping;
    const { clock, log } = this.host;
    for (let failures = 0; !signal.aborted;) {
      this.#readyMs = Infinity;
      let retryAfterMs = 0;
      let reason: string | undefined;
      try {
        reason = await this.#connect(memory);
      } catch (error) {
        if (signal.aborted) return;
        const fault = this.#faultOf(error, true);
        // Before anybody is logged in, what is none of the platform's is a setting.
        const isSetting = this.#open === undefined && fault === error && !isOfPlatform(error);
        if (isFinal(fault) || isSetting) throw fault;
        retryAfterMs = pauseOf(fault);
        reason = reasonOf(fault);
      }
      if (signal.aborted) return;
      if (reason === undefined) continue;
      // One that ends at once each time is not tried ever faster.
      if (clock.elapsed() - this.#readyMs >= STEADY_MS) failures = 0;
      const waitMs = Math.max(retryAfterMs, backoffMs(failures += 1));
      this.#problem = reason;
      this.#say(`not connected: ${reason}; again in ${Math.ceil(waitMs / 1_000)} s`);
      log.info(`The connection to ${this.platform} is gone`, { reason, waitMs });
      this.#readyMs = Infinity;
      await sleep(waitMs, clock, signal);
    }
  }

  async #connect(memory: Memory): Promise<string | undefined> {
    const { signal } = this.#stopping;
    if (this.#open === undefined) {
      this.#say(`connecting to ${this.platform}`);
      this.#opening = this.open(this.#session(memory));
      this.#open = this.#opened(await abortable(this.#opening, signal), memory);
    }
    const connecting = this.#open.driver.connect(signal, (who) => this.#ready(who));
    this.#connecting = connecting;
    return await abortable(connecting, signal);
  }

  #opened(driver: PlatformDriver<Item, Ref, File>, memory: Memory): Open<Item, Ref, File> {
    const { host } = this;
    const { clock } = host;
    const words = platformWordsOf(this.config.language ?? "en");
    const outlet = new Outlet<Ref, File>({
      driver,
      faultOf: (error, isRepeatable) => this.#faultOf(error, isRepeatable),
      memory,
      words,
      clock,
    });
    const taking = new TakeMessage<Item>({
      driver,
      words,
      host,
      clock,
      transcribe: (path) => this.transcribeAudio(path),
      handleMessage: (message) => this.handleMessage(message),
      faultOf: (error) => this.#faultOf(error, true),
      isConnected: () => this.#readyMs !== Infinity,
      onTurn: (chatId) => {
        if (driver.typing !== undefined) outlet.typing.begin(chatId);
      },
      tell: ({ chatId, messageId, metadata }, text) =>
        outlet.tell(chatId, `files:${messageId}`, text, metadata),
    });
    return { driver, outlet, taking };
  }

  #session(memory: Memory): PlatformSession<Item> {
    const { host } = this;
    const intake = this.#intake!;
    const clicks: ClickDeps = {
      isAllowed: (senderId) => this.isAllowed(senderId),
      add: (entries) => intake.add(entries),
      log: host.log,
    };
    return {
      host,
      memory,
      words: platformWordsOf(this.config.language ?? "en"),
      signal: this.#ending.signal,
      cursor: (name) => intake.cursor(name),
      receive: (entries, cursors) => intake.add(entries, cursors),
      click: (click) => this.#open!.outlet.approvals.click(click, clicks),
      react: (reaction) => this.#open!.outlet.react(reaction, clicks),
      isAllowed: (sender) => {
        if (this.isAllowed(sender.senderId)) return true;
        this.#strangers.met(sender);
        return false;
      },
      warn: (problem) => this.#warn(problem),
      say: (state) => this.#say(state),
      refused: (error) => this.#stopping.abort(error),
    };
  }

  async #take(entry: Item | ClickEntry, signal: AbortSignal): Promise<void> {
    if ((entry as Partial<ClickEntry> | null)?.kind !== "approval_click") {
      return await this.#open!.taking.take(entry as Item, signal);
    }
    await abortable(this.handleMessage((entry as ClickEntry).message), signal);
  }

  #ready(who: string): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#readyMs === Infinity) this.#readyMs = this.host.clock.elapsed();
    this.#who = who;
    this.#problem = "";
    this.#describe();
    // The first time alone: what a process before this one has left.
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#open!.outlet.notes.restore();
    this.#intake!.start();
  }

  #describe(): void {
    if (this.#readyMs === Infinity) return;
    const problem = this.#warning === undefined ? "" : `; ${this.#warning}`;
    this.#say(`connected as ${this.#who}${problem}`);
  }

  #say(detail: string): void {
    if (detail === this.#detail) return;
    this.host.setDetail(this.#detail = detail);
  }

  #warn(problem: string | undefined): void {
    const now = this.host.clock.elapsed();
    const isNew = problem !== this.#warning || now - this.#warnedMs >= WARN_EVERY_MS;
    this.#warning = problem;
    this.#describe();
    if (problem === undefined || !isNew) return;
    this.#warnedMs = now;
    this.host.log.warning(`On ${this.platform} ${problem}`, { account: this.#who });
  }

  #faultOf(error: unknown, isRepeatable: boolean): unknown {
    const known = isOfPlatform(error) ? error : this.classify(error);
    const fault = isRepeatable ? ofRepeatable(known) : known;
    // Whoever reads may hear of it much later.
    if (fault instanceof LoginRefusedError) this.#stopping.abort(fault);
    return fault;
  }

  /** What the platform has been given may have arrived, so that it is not left alone at once. */
  async #close(): Promise<void> {
    const { outlet } = this.#open ?? {};
    outlet?.endWaits();
    const said = Promise.allSettled([...this.#sending, outlet?.notes.close()]);
    const late = Promise.withResolvers<void>();
    const cancel = this.host.clock.after(SEND_GRACE_MS, late.resolve);
    await Promise.race([said, late.promise]);
    cancel();
    this.#ending.abort(new UncertainDeliveryError("The channel was stopped while it was sent"));
    await said;
    // One that was being opened is closed as well.
    const driver = await this.#opening?.catch(() => undefined);
    await driver?.close?.();
    await this.#intake?.close();
    await this.#connecting?.catch(() => {});
    this.#open = undefined;
    this.closed();
  }
}

/** A repeat cannot mend it. */
function isFinal(fault: unknown): boolean {
  return fault instanceof LoginRefusedError || fault instanceof PermanentDeliveryError;
}

function isOfPlatform(error: unknown): boolean {
  return failedCall(error) !== undefined || error instanceof LoginRefusedError ||
    error instanceof PermanentDeliveryError ||
    error instanceof RetryLaterError || error instanceof UncertainDeliveryError;
}
