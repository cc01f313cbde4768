/**
 * Rooms and direct messages of a Matrix homeserver.
 *
 * @module
 */

import { BaseChannel } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { LoginRefusedError, NotConnectedError } from "../../lib/channel/delivery_error.ts";
import { eventOf } from "../../lib/channel/outbound_event.ts";
import type { OutboundMessage, StreamDelta } from "../../lib/contract/outbound_message.ts";
import {
  abortable,
  backoffMs,
  InboundFiles,
  inPieces,
  Intake,
  MAX_INBOUND_FILE_BYTES,
  Memory,
  others,
  removeLeftFiles,
  sleep,
  splitQuotes,
  Tries,
} from "../../lib/channel/platform/mod.ts";
import { boundedFetch } from "./api/bounded_fetch.ts";
import { readFault } from "./api/faults.ts";
import {
  forgetToken,
  type MatrixSession,
  openSession,
  refused,
  type SessionDeps,
} from "./api/session.ts";
import type { Heard } from "./inbound/heard.ts";
import { fetchFile } from "./inbound/fetch_file.ts";
import { MatrixLink } from "./matrix_link.ts";
import { type MatrixConfig, matrixSettings, settingsProblem } from "./settings.ts";
import { partsOf } from "./text/message_content.ts";
import { wordsOf } from "./words.ts";

/** Things of one kind that are kept: threads, approvals. */
const MAX_REMEMBERED = 5_000;

/** Failures of one file, about two minutes of them, before its message goes on without it. */
const FILE_TRIES = 8;

export class MatrixChannel extends BaseChannel<MatrixConfig> {
  readonly #ending = new AbortController();
  #isRunning = false;
  #started: Promise<void> | undefined;
  #session: MatrixSession | undefined;
  /** There as soon as the rooms are known. */
  #link: MatrixLink | undefined;
  #problem = "it is not started";
  #detail = "";
  readonly #fileTries = new Tries(FILE_TRIES);
  /** Logins under way: until one has ended, the token that it replaces is no sign of being signed out. */
  readonly #logins = new Set<Promise<unknown>>();
  /** Who else writes with the account. */
  #stranger: string | undefined;

  constructor(config: MatrixConfig, host: ChannelHost) {
    super(matrixSettings(config), host);
  }

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override async login(force = false): Promise<boolean> {
    const opening = openSession(this.#sessionDeps(new AbortController().signal), force);
    this.#logins.add(opening);
    try {
      await opening;
      return true;
    } catch (error) {
      if (!(error instanceof LoginRefusedError)) throw error;
      this.host.log.error("Matrix refuses the login", { reason: error.message });
      return false;
    } finally {
      this.#logins.delete(opening);
    }
  }

  override start(): Promise<void> {
    this.#started ??= this.#run().finally(() => this.#isRunning = false);
    return this.#started;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const { stateDir, clock, log } = this.host;
    if (signal.aborted) return;
    const problem = settingsProblem(this.config);
    if (problem !== undefined) throw new Error(problem);
    this.#isRunning = true;
    const take = (heard: Heard, ended: AbortSignal) => this.#take(heard, ended);
    const note = (text: string) => this.host.setNote(text);
    const intake = await Intake.open<Heard>({ stateDir, take, note, clock, log });
    let closed: Promise<void> | undefined;
    // At once: whoever waits for room in it would wait for ever.
    signal.addEventListener("abort", () => closed = intake.close(), { once: true });
    const memory = new Memory(stateDir, MAX_REMEMBERED);
    let link: MatrixLink | undefined;
    try {
      await removeLeftFiles(stateDir);
      this.#tell(`connecting to ${this.config.homeserver}`);
      link = await this.#connect(memory, intake);
      if (link !== undefined) await this.#serve(link, intake);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#isRunning = false;
      this.#ending.abort();
      await closed;
      await link?.close();
      this.#link = undefined;
      memory.close();
    }
  }

  async #serve(link: MatrixLink, intake: Intake<Heard>): Promise<void> {
    this.#link = link;
    intake.start();
    link.notes.restore();
    while (!this.#ending.signal.aborted) {
      this.#describe(link);
      await this.#retrying(() => link.loop.round());
    }
  }

  /** Logs in and learns how the rooms are. Undefined when it was stopped meanwhile. */
  async #connect(memory: Memory, intake: Intake<Heard>): Promise<MatrixLink | undefined> {
    const { signal } = this.#ending;
    const deps = this.#sessionDeps(signal);
    const session = await this.#retrying(() => openSession(deps));
    if (session === undefined) return undefined;
    this.#session = session;
    const displayName = await session.api.displayName(session.userId).catch(() => undefined);
    const link = new MatrixLink({
      session,
      displayName,
      config: this.config,
      host: this.host,
      memory,
      intake,
      isAllowed: (userId) => this.isAllowed(userId),
      signal,
    });
    const begun = await this.#retrying(() => link.loop.begin().then(() => true));
    if (begun !== undefined) return link;
    await link.close();
    return undefined;
  }

  /** Tries until it works or the channel is stopped: undefined then. Rejects with LoginRefusedError. */
  async #retrying<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#ending;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const result = await attempt();
        this.#problem = "";
        return result;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (error instanceof LoginRefusedError) throw error;
        const fault = readFault(error);
        if (fault.kind === "login") {
          await this.#logInAgain(fault);
          continue;
        }
        const waitMs = fault.kind === "later" ? fault.waitMs : backoffMs(failures + 1);
        this.#problem = fault.words;
        this.#tell(`not connected: ${fault.words}; again in ${Math.ceil(waitMs / 1_000)} s`);
        this.host.log.info("The homeserver cannot be asked", { reason: fault.words, waitMs });
        await sleep(waitMs, this.host.clock, signal);
      }
    }
    return undefined;
  }

  /** A session that came to its end goes on with a new token. Rejects for one that somebody has ended. */
  async #logInAgain(fault: { words: string; isSoft: boolean }): Promise<void> {
    await Promise.allSettled(this.#logins);
    const session = this.#session;
    const deps = this.#sessionDeps(this.#ending.signal);
    const canGoOn = session !== undefined &&
      await forgetToken(deps, session.accessToken, fault.isSoft);
    if (!canGoOn) throw refused(this.config, fault.words);
    const next = await this.#retrying(() => openSession(deps));
    if (next === undefined) return;
    session.accessToken = next.accessToken;
    session.api.renew(next);
  }

  #sessionDeps(signal: AbortSignal): SessionDeps {
    const { clock, stateDir } = this.host;
    return {
      config: this.config,
      stateDir,
      fetch: boundedFetch({ clock, maxFileBytes: MAX_INBOUND_FILE_BYTES, signal }),
      now: () => clock.now(),
    };
  }

  #describe({ session, rooms, foreign }: MatrixLink): void {
    const stranger = foreign.judge();
    if (stranger !== undefined && stranger !== this.#stranger) {
      this.#stranger = stranger;
      this.host.log.warning("Somebody else writes with the account of the bot", {
        user: session.userId,
        reason: stranger,
      });
    }
    const more = this.#stranger === undefined ? "" : `; ${this.#stranger}`;
    this.#tell(`connected as ${session.userId}, ${rooms.describe()}${more}`);
  }

  #tell(detail: string): void {
    if (detail === this.#detail) return;
    this.#detail = detail;
    this.host.setDetail(detail);
  }

  /** Hands a message on that waits in the intake. */
  async #take(heard: Heard, signal: AbortSignal): Promise<void> {
    const link = this.#link!;
    const { roomId, chatId, eventId, senderId, senderName, isShared, file } = heard;
    const files = new InboundFiles(this.host.stateDir);
    try {
      const fetched = file === undefined ? undefined : await fetchFile(file, {
        api: link.session.api,
        files,
        transcribe: (path) => this.transcribeAudio(path),
        words: wordsOf(this.config.language),
        // While the server is away as a whole, nothing is said by it of the file.
        isHopeless: () => this.#problem === "" && this.#fileTries.isLast(eventId),
        signal,
      });
      const message = {
        senderId,
        senderName,
        chatId,
        ...inPieces([
          ...splitQuotes(heard.content, { reach: "paragraph" }),
          ...fetched === undefined ? [] : others(fetched.provenance, fetched.text, file?.name),
        ]),
        messageId: eventId,
        metadata: { eventId, senderId, roomId, isShared },
        ...files.paths.length > 0 && { media: files.paths },
        ...heard.sentAt !== undefined && { sentAt: heard.sentAt },
      };
      const published = await abortable(this.handleMessage(message), signal);
      const isNew = published.kind === "turn" && !published.repeated;
      if (published.kind !== "denied") await link.acknowledge(heard, isNew);
      if (isNew && fetched?.isLeftOut) await link.tell(heard, fetched.text);
    } finally {
      await files.remove();
    }
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#problem = "it was stopped";
    this.#ending.abort();
    await this.#started?.catch(() => {});
  }

  override async send(message: OutboundMessage): Promise<void> {
    const link = this.#connected();
    const event = eventOf(message);
    switch (event?.type) {
      case undefined:
        return void await link.sender.send(message);
      case "goal_status":
        return void await link.sender.send(message, "m.notice");
      case "approval":
        return await link.approvals.ask(message, event);
      case "approval_resolved":
        return await link.approvals.resolved(message, event);
      case "progress":
        return await link.notes.show(message.chatId, partsOf(message.content)[0] ?? "");
      case "turn_end":
        link.typing.end(message.chatId);
        return await link.notes.end(message.chatId);
    }
  }

  override async sendDelta(piece: StreamDelta): Promise<void> {
    await this.#connected().streams.push(piece);
  }

  #connected(): MatrixLink {
    const link = this.#link;
    if (this.#isRunning && link !== undefined) return link;
    throw new NotConnectedError(this.#problem || "it is starting");
  }
}
