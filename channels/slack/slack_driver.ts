/**
 * An app of a workspace that is logged in: Slack's Web API and events, for `PlatformChannel`.
 *
 * @module
 */

import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import {
  type ApprovalButton,
  type Edit,
  type FileRules,
  inPieces,
  type IntakeEntry,
  others,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
  splitQuotes,
} from "../../lib/channel/platform/mod.ts";
import type { OutboundMessage } from "../../lib/contract/outbound_message.ts";
import { SlackApi, textOf } from "./api/slack_api.ts";
import { refusedAs } from "./api/slack_faults.ts";
import { HTTP_PATH } from "./app_manifest.ts";
import { readChatId, TS } from "./events/chat_id.ts";
import { APPROVE_ACTION, DENY_ACTION, readClick, writeButton } from "./events/read_click.ts";
import type { FileNote } from "./events/read_files.ts";
import { readMessage, type SlackMessage } from "./events/read_message.ts";
import { readSelf, type SlackSelf } from "./events/slack_self.ts";
import { answerSlack } from "./http/events_endpoint.ts";
import { SlackSignature } from "./http/slack_signature.ts";
import { MissedMessages } from "./inbound/missed_messages.ts";
import { AckReactions } from "./outbound/ack_reactions.ts";
import { fetchFile, MAX_UPLOAD_BYTES, type SlackFile, uploadFile } from "./outbound/slack_files.ts";
import { SlackMessages, type SlackRef } from "./outbound/slack_messages.ts";
import { type SlackConfig, webApi } from "./settings.ts";
import { type Envelope, SocketConnection } from "./socket/socket_connection.ts";
import { fromMrkdwn } from "./text/from_mrkdwn.ts";
import { toMrkdwn } from "./text/to_mrkdwn.ts";
import { splitForSlack } from "./text/to_slack.ts";
import { wordsOf } from "./words.ts";

export type { SlackFile } from "./outbound/slack_files.ts";

/** What waits on the disk. */
export type SlackEntry = SlackMessage;

/** Slack takes 50 edits a minute. */
const EDIT_MS = 1_200;

/** Slack forgets a status after two minutes. */
const STATUS_MS = 60_000;

/** Characters of a word for who clicked; what is longer is a message like any other. */
const MAX_WHISPER_CHARS = 2_000;

/** Under which threads are remembered that the app takes part in. */
const THREAD = "thread";

/** Slack tells each message to one of the programs alone. */
const OTHERS =
  "another program is connected with this app token and takes part of the messages: stop it";

/** An app token that may not open connections. */
const TOKEN_CODES: ReadonlySet<string> = new Set(["missing_scope", "not_allowed_token_type"]);

export class SlackDriver implements PlatformDriver<SlackEntry, SlackRef, SlackFile> {
  readonly files: FileRules<SlackFile>;
  readonly typing = {
    everyMs: STATUS_MS,
    show: (chatId: string) => this.#showStatus(chatId, wordsOf(this.#config.language)("status")),
    hide: (chatId: string) => this.#showStatus(chatId, ""),
  };
  readonly #config: SlackConfig;
  readonly #apiUrl: URL;
  readonly #session: PlatformSession<SlackEntry>;
  readonly #api: SlackApi;
  readonly #self: SlackSelf;
  readonly #messages: SlackMessages;
  readonly #reactions: AckReactions;
  readonly #missed: MissedMessages;
  /** Connections that are there: a new one is, before Slack takes the old one away. */
  readonly #sockets = new Set<SocketConnection>();
  #socket: SocketConnection | undefined;
  #isListening = false;
  #hasBegun = false;
  #hasStatus = true;
  #hasWarned = false;

  private constructor(
    config: SlackConfig,
    session: PlatformSession<SlackEntry>,
    { api, self }: { api: SlackApi; self: SlackSelf },
  ) {
    this.#config = config;
    this.#session = session;
    this.#api = api;
    this.#self = self;
    const { host, memory, signal } = session;
    const apiUrl = this.#apiUrl = webApi(config.apiUrl);
    const name = config.ackReaction.replaceAll(/^:|:$/g, "");
    this.#messages = new SlackMessages({ api, onPosted: (chatId) => this.#takePart(chatId) });
    this.#reactions = new AckReactions({ ...host, api, name, memory, signal });
    this.#missed = new MissedMessages({
      api,
      host,
      cursor: session.cursor,
      add: (events, cursors) => this.#add(events, cursors),
      threads: () => memory.entries(THREAD).slice(-100).reverse().map(([chatId]) => chatId),
      isConnected: () => this.#isListening || this.#socket?.isOver === false,
    });
    this.files = {
      maxBytes: MAX_UPLOAD_BYTES,
      upload: (file, _, leftMs) => uploadFile(file, leftMs, { api, apiUrl, ...host, signal }),
      // All at once, behind the text: Slack fails at blocks of Markdown beside them.
      group: (files) => files.length === 0 ? [] : [[...files]],
    };
  }

  /** Rejects as `SlackApi.call` does. */
  static async open(
    config: SlackConfig,
    session: PlatformSession<SlackEntry>,
  ): Promise<SlackDriver> {
    const { host: { clock }, signal, refused: onRefused } = session;
    const { botToken: token, apiUrl } = config;
    const api = new SlackApi({ token, apiUrl: webApi(apiUrl), clock, signal, onRefused });
    const self = readSelf(await api.call("auth.test"));
    return new SlackDriver(config, session, { api, self });
  }

  async connect(signal: AbortSignal, ready: (who: string) => void): Promise<string | undefined> {
    const who = `${this.#self.userName} to ${this.#self.teamName}`.slice(0, 70);
    const begin = (who: string) => {
      ready(who);
      if (this.#hasBegun) return;
      this.#hasBegun = true;
      this.#reactions.restore();
      this.#missed.noteSeen();
    };
    if (this.#config.mode === "http") return await this.#listen(signal, who, begin);
    const asked = Promise.withResolvers<string>();
    const socket = await this.#openSocket(signal, asked.resolve);
    const old = this.#socket;
    this.#socket = socket;
    begin(who);
    this.#session.warn(socket.connections > this.#sockets.size ? OTHERS : undefined);
    if (old === undefined || old.isOver) this.#missed.read();
    old?.close();
    const reason = await Promise.race([asked.promise, socket.over.then(() => "")]);
    if (reason === "link_disabled") {
      throw new LoginRefusedError(
        "Socket Mode is switched off for the app: switch it on under Socket Mode, or set mode " +
          "to http",
      );
    }
    return reason === "" ? "the connection was lost" : undefined;
  }

  async #openSocket(
    signal: AbortSignal,
    onRefresh: (reason: string) => void,
  ): Promise<SocketConnection> {
    const { clock } = this.#session.host;
    const { appToken } = this.#config;
    const apiUrl = this.#apiUrl;
    const onEnvelope = (envelope: Envelope) => this.#accept(envelope);
    const socket = new SocketConnection({ appToken, apiUrl, clock, signal, onEnvelope, onRefresh });
    this.#sockets.add(socket);
    void socket.over.then(() => this.#sockets.delete(socket));
    try {
      await socket.open();
      return socket;
    } catch (error) {
      const code = refusedAs(error);
      if (!TOKEN_CODES.has(code)) throw error;
      throw new LoginRefusedError(
        "appToken may not open connections: make one with the scope connections:write under " +
          `Basic Information, App-Level Tokens (${code})`,
      );
    }
  }

  async #listen(
    signal: AbortSignal,
    who: string,
    begin: (who: string) => void,
  ): Promise<string> {
    const { host } = this.#session;
    const { host: hostname, port } = this.#config;
    const signature = new SlackSignature(this.#config.signingSecret);
    const listener = await host.listen({ host: hostname, port }, (request) =>
      answerSlack(request, {
        signature,
        ...host,
        onEnvelope: (envelope) => this.#accept(envelope),
        onMissed: () => this.#missed.lookBack(),
      }));
    try {
      this.#isListening = true;
      begin(`${who}, listening at ${listener.url}${HTTP_PATH}`);
      this.#missed.read();
      await new Promise((end) => signal.addEventListener("abort", end, { once: true }));
      return "";
    } finally {
      this.#isListening = false;
      await listener.close();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.cut();
    await this.#missed.close();
  }

  /** Resolves when what is told is on the disk, or not for us: Slack may be told so then. */
  async #accept({ type, payload }: Envelope): Promise<void> {
    try {
      if (type === "interactive") await this.#click(payload);
      if (type !== "events_api") return;
      if (textOf(payload, "type") === "app_rate_limited") {
        const { log } = this.#session.host;
        log.warning("Slack leaves out events: more than 30,000 came in an hour");
        return this.#missed.lookBack();
      }
      if (this.#isOurs(payload)) await this.#add([(payload as { event?: unknown }).event]);
    } catch (error) {
      // Slack tells it three times more and then no more, while a disk may be full for longer.
      this.#missed.readAgain();
      throw error;
    }
  }

  /** Takes events of messages, and stores cursors, in one go. */
  async #add(
    events: readonly unknown[],
    cursors?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { respond, replyInThread } = this.#config;
    const isInThread = (chatId: string) => this.#session.memory.get(THREAD, chatId) !== undefined;
    const rules = { self: this.#self, respond, replyInThread, isInThread };
    const entries: IntakeEntry<SlackEntry>[] = [];
    for (const event of events) {
      const message = readMessage(event, rules);
      if (message === undefined) continue;
      const { senderId, chatId, channel, ts: id, editedTs: editedAt } = message;
      const sender = { senderId, ...channel.startsWith("D") && { directChatId: chatId } };
      // What a stranger writes takes no room.
      if (!this.#session.isAllowed(sender)) continue;
      this.#takePart(chatId);
      entries.push({ lane: chatId, id, editedAt, data: message });
    }
    if (entries.length === 0 && cursors === undefined) return;
    await this.#session.receive(entries, cursors);
  }

  /** What is written in a thread from now on is heard, and looked for after a time away. */
  #takePart(chatId: string): void {
    if (chatId.includes(":")) this.#session.memory.set(THREAD, chatId, 1);
  }

  async #click(payload: unknown): Promise<void> {
    const { host: { clock, log }, words } = this.#session;
    const click = readClick(payload, this.#self);
    if (click === undefined) return;
    const { button, channel, threadTs, userId, userName, senderId, actionTs, isApproved } = click;
    const place = { channel, ...threadTs !== undefined && { threadTs } };
    const outcome = button.expiresAt <= clock.now() ? "expired" : await this.#session.click({
      ...{ approvalId: button.id, digest: button.digest, chatId: button.chatId },
      ...{ isApproved, senderId, clickId: `${actionTs}:${senderId}` },
      senderName: userName.slice(0, 100).toWellFormed(),
      metadata: { clickedBy: userId, ...place },
    });
    if (outcome === "failed") throw new Error("The click could not be stored");
    if (outcome === "taken") return;
    // Nobody waits for it.
    void this.#messages.whisper(place, userId, words(outcome)).catch((error) =>
      log.info("A word about a click was not said", { reason: (error as Error).message })
    );
  }

  /** Every workspace that has the app tells its events to whoever has the app's token. */
  #isOurs(payload: unknown): boolean {
    const { teamId, enterpriseId } = this.#self;
    const { authorizations } = payload as { authorizations?: unknown };
    const teams = [
      textOf(payload, "team_id"),
      textOf(payload, "context_team_id"),
      ...Array.isArray(authorizations) ? authorizations.map((one) => textOf(one, "team_id")) : [],
    ].filter((team) => team !== "");
    const isOurs = teams.length === 0 || teams.includes(teamId) ||
      enterpriseId !== "" && teams.includes(enterpriseId);
    if (!isOurs && !this.#hasWarned) {
      this.#hasWarned = true;
      const { log } = this.#session.host;
      log.warning("Events of another workspace come to this app, and are left out", {
        workspace: teams[0]!.slice(0, 30),
        advice: "make an app of its own for each workspace",
      });
    }
    return isOurs;
  }

  read(message: SlackMessage): PlatformMessage<FileNote> | undefined {
    // A click of a former version, which nobody waits for any more.
    if (message.kind !== "message") return undefined;
    const { chatId, channel, ts, senderId, sentAt, text, shared = [], files, editedTs } = message;
    const own = { selfId: this.#self.userId, selfName: this.#self.userName };
    const pieces = [
      ...splitQuotes(fromMrkdwn(text, own), { hasRest: true }),
      ...shared.flatMap(({ text, author }) => others("forwarded", fromMrkdwn(text, own), author)),
    ].filter(({ text }) => text !== "");
    if (pieces.length === 0 && files.length === 0 && editedTs === undefined) {
      if (text.trim() === "") return undefined;
      // An empty mention asks for attention, as a word would.
      pieces.push({ text: `@${own.selfName}` });
    }
    return {
      ...{ chatId, messageId: ts, editedAt: editedTs, senderId, sentAt, metadata: { channel, ts } },
      ...inPieces(pieces),
      files: files.map((file) => ({
        name: file.name,
        isAudio: file.isAudio,
        provenance: file.isClip === true ? "own" : "file",
        ref: file,
      })),
    };
  }

  fetchFile({ ref }: PlatformFile, maxBytes: number, signal: AbortSignal) {
    const { botToken } = this.#config;
    const apiUrl = this.#apiUrl;
    const { clock } = this.#session.host;
    const deps = { api: this.#api, apiUrl, botToken, clock };
    return fetchFile(ref as FileNote, deps, { signal, maxBytes });
  }

  async nameOf(senderId: string): Promise<string | undefined> {
    const { user } = await this.#api.call("users.info", { user: senderId.split(":").at(-1) });
    const name = textOf(user, "profile", "display_name") || textOf(user, "real_name") ||
      textOf(user, "name");
    return name.slice(0, 100).toWellFormed() || undefined;
  }

  acknowledge({ channel, ts }: SlackMessage): Promise<void> {
    this.#reactions.add(channel, ts);
    return Promise.resolve();
  }

  async turnEnded({ metadata: { channel, ts } }: OutboundMessage): Promise<void> {
    if (typeof channel === "string" && typeof ts === "string" && TS.test(ts)) {
      await this.#reactions.remove(channel, ts);
    }
  }

  split(markdown: string): string[] {
    return splitForSlack(markdown);
  }

  noteOf(markdown: string): string {
    return markdown.trim();
  }

  editEveryMs(): number {
    return EDIT_MS;
  }

  hasButtons(): boolean {
    return true;
  }

  async post({ chatId, text, kind, files, buttons }: Posting<SlackFile>): Promise<SlackRef> {
    const messages = this.#messages;
    if (files.length > 0) return await messages.postFiles(chatId, files);
    const more = buttons === undefined ? [] : [blockOf(buttons, chatId)];
    return await messages.post(chatId, text, { isNote: kind === "note", more });
  }

  async edit(ref: SlackRef, { text, kind, isFinal }: Edit): Promise<void> {
    try {
      await this.#messages.update(ref, text, kind === "note");
    } catch (error) {
      const code = refusedAs(error);
      // Somebody has removed an approval, and saw what it was.
      if (kind === "approval" && code === "message_not_found") return;
      if (kind !== "answer" || code !== "edit_window_closed") throw error;
      // Where the workspace lets nobody edit a message any more, the whole text is a message of its own.
      if (isFinal) Object.assign(ref, await this.#messages.post(ref.chatId, text));
    }
  }

  removeNote(ref: SlackRef): Promise<void> {
    return this.#messages.remove(ref);
  }

  /** How an approval came out stands in its message, for everybody. */
  async answerClick({ content, media, metadata }: OutboundMessage): Promise<boolean> {
    const { clickedBy, channel, threadTs } = metadata;
    if (typeof clickedBy !== "string" || typeof channel !== "string") return false;
    if (content.length > MAX_WHISPER_CHARS || media.length > 0) return false;
    const place = { channel, ...typeof threadTs === "string" && { threadTs } };
    try {
      await this.#messages.whisper(place, clickedBy, toMrkdwn(content));
      return true;
    } catch (error) {
      if (refusedAs(error) !== "") return false;
      throw error;
    }
  }

  /** Apps show that they are at work in threads of direct conversations alone. */
  async #showStatus(chatId: string, status: string): Promise<void> {
    const { channel = "", threadTs } = readChatId(chatId) ?? {};
    if (!this.#hasStatus || !channel.startsWith("D") || threadTs === undefined) return;
    try {
      const place = { channel_id: channel, thread_ts: threadTs };
      await this.#api.call("assistant.threads.setStatus", { ...place, status });
    } catch (error) {
      // The app is no assistant, which is no fault.
      if (refusedAs(error) === "missing_scope") this.#hasStatus = false;
    }
  }
}

function blockOf(buttons: readonly ApprovalButton[], chatId: string) {
  return {
    type: "actions",
    elements: buttons.map(({ isApproval, label, approvalId, digest, expiresAt }) => ({
      type: "button",
      action_id: isApproval ? APPROVE_ACTION : DENY_ACTION,
      style: isApproval ? "primary" : "danger",
      value: writeButton({ id: approvalId, digest: digest.slice(0, 8), expiresAt, chatId }),
      text: { type: "plain_text", text: label, emoji: false },
    })),
  };
}
