/**
 * Slack: an app of a workspace that answers in direct messages, channels and threads.
 *
 * @module
 */

import { join } from "@std/path";
import { BaseChannel } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { LoginRefusedError, NotConnectedError } from "../../lib/channel/delivery_error.ts";
import type { OutboundMessage, StreamDelta } from "../../lib/contract/outbound_message.ts";
import { SlackApi } from "./api/slack_api.ts";
import { HTTP_PATH } from "./app_manifest.ts";
import { tsOfTime } from "./events/chat_id.ts";
import { readSelf, type SlackSelf } from "./events/slack_self.ts";
import { answerSlack } from "./http/events_endpoint.ts";
import { SlackSignature } from "./http/slack_signature.ts";
import { catchUp, SEEN_CURSOR } from "./inbound/catch_up.ts";
import { requireSettings, type SlackConfig, type SlackSettings } from "./settings.ts";
import { SlackSession } from "./slack_session.ts";
import type { Envelope } from "./socket/socket_connection.ts";
import { SocketLink } from "./socket/socket_link.ts";

/** How often it is noted that we are there, milliseconds. */
const SEEN_EVERY_MS = 30_000;

/** Before what could not be taken, or read, is read again, milliseconds. */
const READ_AGAIN_MS = 15_000;

/** How far back is read where Slack has left something out, and how soon and how often, milliseconds. */
const LOOK_BACK_MS = 3_600_000;
const LOOK_BACK_AFTER_MS = 60_000;
const LOOK_BACK_EVERY_MS = 600_000;

export class SlackChannel extends BaseChannel<SlackConfig> {
  readonly #ending = new AbortController();
  readonly #refused = Promise.withResolvers<never>();
  #session: SlackSession | undefined;
  #started: Promise<void> | undefined;
  #isRunning = false;
  #isConnected = false;
  /** Whether something was written meanwhile that is not read yet. */
  #isBehind = true;
  #catchingUp: Promise<void> = Promise.resolve();
  /** A read waits behind the one that is under way: it reads what a third would. */
  #isReadWaiting = false;
  #cancelSeen: (() => void) | undefined;
  #cancelLookBack: (() => void) | undefined;
  #cancelReadAgain: (() => void) | undefined;
  #lookedBackMs = -Infinity;
  #lookBackMs = 0;

  constructor(config: SlackConfig, host: ChannelHost) {
    super(config, host);
    this.#refused.promise.catch(() => {});
  }

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override start(): Promise<void> {
    return this.#started ??= this.#run();
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#ending.abort(new Error("The channel was stopped"));
    await this.#started?.catch(() => {});
  }

  override async send(message: OutboundMessage): Promise<void> {
    await this.#requireSession().send(message);
  }

  override async sendDelta(piece: StreamDelta): Promise<void> {
    await this.#requireSession().sendDelta(piece);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    if (signal.aborted) return;
    const settings = requireSettings(this.config);
    const { stateDir, clock } = this.host;
    this.#isRunning = true;
    const inner = new AbortController();
    const end = () => inner.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    try {
      await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
      // What a process left that was killed; it is fetched again.
      await Deno.remove(join(stateDir, "media"), { recursive: true }).catch(() => {});
      const api = new SlackApi({
        token: settings.botToken,
        apiUrl: settings.apiUrl,
        clock,
        signal: inner.signal,
        onRefused: this.#refused.reject,
      });
      this.host.setDetail("logging in");
      const self = readSelf(await api.call("auth.test"));
      const session = await SlackSession.open({
        config: this.config,
        settings,
        self,
        api,
        host: this.host,
        signal: inner.signal,
        isAllowed: (senderId) => this.isAllowed(senderId),
        publish: (message) => this.handleMessage(message),
        onMissed: () => this.#lookBack(api, inner.signal),
        transcribe: (path) => this.transcribeAudio(path),
      });
      this.#session = session;
      try {
        session.start();
        await Promise.race([
          this.#refused.promise,
          this.config.mode === "http"
            ? this.#listen(session, self, api, settings, inner.signal)
            : this.#connect(session, self, api, settings, inner.signal),
        ]);
      } finally {
        this.#session = undefined;
        inner.abort(new Error("The channel ends"));
        this.#cancelSeen?.();
        this.#cancelLookBack?.();
        this.#cancelReadAgain?.();
        await this.#catchingUp;
        await session.close();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      inner.abort(new Error("The channel ends"));
      signal.removeEventListener("abort", end);
      this.#isRunning = false;
    }
  }

  async #connect(
    session: SlackSession,
    self: SlackSelf,
    api: SlackApi,
    { apiUrl, appToken }: SlackSettings,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.host;
    const link = new SocketLink({
      appToken,
      apiUrl,
      clock,
      log,
      onEnvelope: (envelope) => this.#accept(envelope, session, api, signal),
      onConnected: ({ others, wasAway }) => {
        this.#isConnected = true;
        this.host.setDetail(`connected as ${nameOf(self)}${others > 0 ? OTHERS : ""}`);
        if (others > 0) log.warning("Another program is connected with this app token", { others });
        if (wasAway) this.#catchUp(session, api, signal);
      },
      onAway: (reason) => {
        this.#isConnected = false;
        this.host.setDetail(`not connected: ${reason}`);
      },
    });
    this.#noteSeen(session);
    await link.run(signal);
  }

  async #listen(
    session: SlackSession,
    self: SlackSelf,
    api: SlackApi,
    { signingSecret }: SlackSettings,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.host;
    const { host, port } = this.config;
    const signature = await SlackSignature.from(signingSecret);
    const listener = await this.host.listen({ host, port }, (request) =>
      answerSlack(request, {
        signature,
        clock,
        log,
        onEnvelope: (envelope) => this.#accept(envelope, session, api, signal),
        onMissed: () => this.#lookBack(api, signal),
      }));
    try {
      this.#isConnected = true;
      this.host.setDetail(`${nameOf(self)}, listening at ${listener.url}${HTTP_PATH}`);
      this.#catchUp(session, api, signal);
      this.#noteSeen(session);
      await ended(signal);
    } finally {
      await listener.close();
    }
  }

  /** Slack tells it three times more and then no more, while a disk may be full for longer. */
  async #accept(
    envelope: Envelope,
    session: SlackSession,
    api: SlackApi,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await session.inbox.accept(envelope);
    } catch (error) {
      this.#readAgain(session, api, signal);
      throw error;
    }
  }

  /** Reads after a while what could not be taken. */
  #readAgain(session: SlackSession, api: SlackApi, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#isBehind = true;
    this.#cancelReadAgain ??= this.host.clock.after(READ_AGAIN_MS, () => {
      this.#cancelReadAgain = undefined;
      this.#catchUp(session, api, signal);
    });
  }

  /** Reads what was written while we were away; one read after the other. */
  #catchUp(session: SlackSession, api: SlackApi, signal: AbortSignal): void {
    const { clock, log } = this.host;
    this.#isBehind = true;
    if (this.#isReadWaiting) return;
    this.#isReadWaiting = true;
    this.#catchingUp = this.#catchingUp.then(async () => {
      this.#isReadWaiting = false;
      try {
        const isWhole = await catchUp({
          api,
          clock,
          log,
          cursor: (name) => session.intake.cursor(name),
          add: (messages, cursors) => session.inbox.add(messages, cursors),
          threads: () => session.threads.recent(100),
          lookBackMs: this.#takeLookBack(),
        }, signal);
        this.#isBehind = !isWhole || this.#isReadWaiting || this.#cancelReadAgain !== undefined;
      } catch (error) {
        if (signal.aborted || error instanceof LoginRefusedError) return;
        log.warning("What was written meanwhile could not be read", {
          reason: (error as Error).message,
        });
        this.#readAgain(session, api, signal);
      }
    });
  }

  /** Slack has left something out, and does so for a while: the last hour is read again behind that. */
  #lookBack(api: SlackApi, signal: AbortSignal): void {
    if (this.#cancelLookBack !== undefined || signal.aborted) return;
    const { clock, log } = this.host;
    const leastMs = this.#lookedBackMs + LOOK_BACK_EVERY_MS - clock.elapsed();
    this.#cancelLookBack = clock.after(Math.max(LOOK_BACK_AFTER_MS, leastMs), () => {
      this.#cancelLookBack = undefined;
      this.#lookedBackMs = clock.elapsed();
      this.#lookBackMs = LOOK_BACK_MS;
      log.info("Slack has left something out, and the last hour is read again");
      if (this.#session !== undefined) this.#catchUp(this.#session, api, signal);
    });
  }

  #takeLookBack(): number {
    const lookBackMs = this.#lookBackMs;
    this.#lookBackMs = 0;
    return lookBackMs;
  }

  /** Notes from time to time that nothing before was missed. */
  #noteSeen(session: SlackSession): void {
    const { clock } = this.host;
    this.#cancelSeen = clock.after(SEEN_EVERY_MS, () => {
      if (this.#isConnected && !this.#isBehind) {
        session.inbox.add([], { [SEEN_CURSOR]: tsOfTime(clock.now()) }).catch(() => {});
      }
      this.#noteSeen(session);
    });
  }

  #requireSession(): SlackSession {
    if (this.#session === undefined || !this.#isRunning) {
      throw new NotConnectedError("Slack is away");
    }
    return this.#session;
  }
}

/** Slack tells each message to one of the programs alone. */
const OTHERS =
  "; another program is connected with this app token and takes part of the messages: " +
  "stop it";

function nameOf({ userName, teamName }: SlackSelf): string {
  return `${userName} to ${teamName}`.slice(0, 70);
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
