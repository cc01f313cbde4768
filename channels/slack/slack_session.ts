/**
 * Everything of a channel that is logged in: what comes in, and what goes out.
 *
 * @module
 */

import { basename } from "@std/path";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import type { HandledMessage, Published } from "../../lib/contract/inbound_message.ts";
import { eventOf } from "../../lib/channel/outbound_event.ts";
import type { OutboundMessage, StreamDelta } from "../../lib/contract/outbound_message.ts";
import {
  EditedStreams,
  InboundFiles,
  Intake,
  Memory,
  removeLeftFiles,
  SendSteps,
  StatusNotes,
  Tries,
  Typing,
} from "../../lib/channel/platform/mod.ts";
import type { SlackApi } from "./api/slack_api.ts";
import { SlackRefusal } from "./api/slack_fault.ts";
import { readChatId, TS } from "./events/chat_id.ts";
import type { SlackSelf } from "./events/slack_self.ts";
import { Inbox, type SlackEntry } from "./inbound/inbox.ts";
import { fetchFiles } from "./inbound/incoming_files.ts";
import { TakenThreads } from "./inbound/taken_threads.ts";
import { UserNames } from "./inbound/user_names.ts";
import { AckReactions } from "./outbound/ack_reactions.ts";
import { ApprovalCards } from "./outbound/approval_cards.ts";
import { replyToClick } from "./outbound/click_replies.ts";
import { SlackMessages, type SlackRef } from "./outbound/slack_messages.ts";
import { sendable, uploadFiles } from "./outbound/upload_files.ts";
import type { SlackConfig, SlackSettings } from "./settings.ts";
import { splitForSlack } from "./text/to_slack.ts";
import { wordsOf } from "./words.ts";

/** What it works with. */
export interface SlackSessionDeps {
  config: SlackConfig;
  settings: SlackSettings;
  self: SlackSelf;
  api: SlackApi;
  host: ChannelHost;
  signal: AbortSignal;
  isAllowed: (senderId: string) => boolean;
  publish: (message: HandledMessage) => Promise<Published>;
  /** Slack has left something out. */
  onMissed: () => void;
  transcribe: (path: string) => Promise<string>;
}

/** Slack takes 50 edits a minute. */
const EDIT_MS = 1_200;

/** Slack forgets a status after two minutes. */
const STATUS_MS = 60_000;

/** How often one process tries to fetch the files of a message, which takes two minutes. */
const MAX_FETCHES = 8;

/** A message of a stream. */
interface StreamRef extends SlackRef {
  chatId: string;
}

export class SlackSession {
  readonly intake: Intake<SlackEntry>;
  readonly inbox: Inbox;
  readonly threads: TakenThreads;
  readonly #deps: SlackSessionDeps;
  readonly #memory: Memory;
  readonly #messages: SlackMessages;
  readonly #notes: StatusNotes<SlackRef>;
  readonly #cards: ApprovalCards;
  readonly #streams: EditedStreams<StreamRef>;
  readonly #typing: Typing;
  readonly #reactions: AckReactions;
  readonly #steps = new SendSteps<unknown>();
  #hasStatus = true;

  private constructor(deps: SlackSessionDeps, intake: Intake<SlackEntry>, memory: Memory) {
    const { api, config, host, settings, self, isAllowed, publish, transcribe } = deps;
    const { clock, log, stateDir } = host;
    const words = wordsOf(config.language);
    this.#deps = deps;
    this.intake = intake;
    this.#memory = memory;
    this.threads = new TakenThreads(memory);
    this.#messages = new SlackMessages({ api, onPosted: (chatId) => this.threads.add(chatId) });
    this.#notes = new StatusNotes<SlackRef>({
      post: (chatId, text) => this.#messages.postNote(chatId, text),
      edit: (ref, text) => this.#messages.updateNote(ref, text),
      remove: (ref) => this.#messages.remove(ref),
      memory,
      clock,
      everyMs: () => EDIT_MS,
    });
    this.#notes.restore();
    this.#cards = new ApprovalCards({ messages: this.#messages, memory, words, clock });
    this.#streams = new EditedStreams({
      post: async ({ chatId }, part) => ({ ...await this.#messages.post(chatId, part), chatId }),
      edit: (ref, part, isFinal) => this.#edit(ref, part, isFinal),
      split: splitForSlack,
      everyMs: EDIT_MS,
      clock,
    });
    this.#typing = new Typing({
      clock,
      everyMs: STATUS_MS,
      show: (chatId) => this.#showStatus(chatId, words("status")),
      hide: (chatId) => this.#showStatus(chatId, ""),
    });
    this.#reactions = new AckReactions({
      api,
      name: settings.ackReaction,
      memory,
      clock,
      log,
      signal: deps.signal,
    });
    const fileDeps = {
      api,
      apiUrl: settings.apiUrl,
      botToken: settings.botToken,
      words,
      clock,
      tries: new Tries(MAX_FETCHES),
      transcribe,
    };
    this.inbox = new Inbox({
      rules: { self, respond: config.respond, replyInThread: config.replyInThread },
      words,
      log,
      intake,
      threads: this.threads,
      cards: this.#cards,
      names: new UserNames(api, clock),
      isAllowed,
      publish,
      openFiles: () => new InboundFiles(stateDir),
      fetchFiles: (message, files, signal) => fetchFiles(message, files, fileDeps, signal),
      say: (chatId, text) => this.#messages.post(chatId, text),
      whisper: (place, userId, text) => this.#messages.whisper(place, userId, text),
      onMissed: deps.onMissed,
      onTurn: ({ channel, ts, chatId }) => {
        this.#reactions.add(channel, ts);
        this.#typing.begin(chatId);
      },
    });
  }

  /** Opens what lies in the channel's folder. */
  static async open(deps: SlackSessionDeps): Promise<SlackSession> {
    const { stateDir, clock, log } = deps.host;
    await removeLeftFiles(stateDir);
    const memory = new Memory(stateDir);
    // The intake takes when it is started, and the session is there by then.
    const session: { current?: SlackSession } = {};
    try {
      const intake = await Intake.open<SlackEntry>({
        stateDir,
        clock,
        log,
        take: (entry, signal) => session.current!.inbox.take(entry, signal),
        note: (text) => deps.host.setNote(text),
      });
      return session.current = new SlackSession(deps, intake, memory);
    } catch (error) {
      memory.close();
      throw error;
    }
  }

  /** Begins to take what comes, and puts away what a process before this one has left. */
  start(): void {
    this.#reactions.restore();
    this.intake.start();
  }

  /** Delivers a message, as `Channel.send` says. */
  async send(message: OutboundMessage): Promise<void> {
    const { chatId, content } = message;
    const event = eventOf(message);
    switch (event?.type) {
      case undefined:
        if (await replyToClick(message, (...word) => this.#messages.whisper(...word))) return;
        return await this.#sendAnswer(message);
      case "approval":
        return await this.#cards.show(message, event);
      case "approval_resolved":
        return await this.#cards.resolve(message, event);
      case "progress":
      case "goal_status":
        return await this.#notes.show(chatId, content.trim());
      case "turn_end":
        return await this.#endTurn(message);
    }
  }

  /** Delivers a piece of a stream, as `BaseChannel.sendDelta` says. */
  async sendDelta(piece: StreamDelta): Promise<void> {
    await this.#streams.push(piece);
  }

  /** Puts everything away; what waits to be taken stays on the disk. */
  async close(): Promise<void> {
    this.#streams.close();
    this.#typing.close();
    this.#reactions.close();
    await this.intake.close();
    await this.#notes.close();
    this.#memory.close();
  }

  /** Where the workspace lets nobody edit a message any more, the whole text is a message of its own. */
  async #edit(ref: StreamRef, part: string, isFinal: boolean): Promise<void> {
    try {
      await this.#messages.update({ channel: ref.channel, ts: ref.ts }, part);
    } catch (error) {
      if (!(error instanceof SlackRefusal) || error.code !== "edit_window_closed") throw error;
      if (isFinal) Object.assign(ref, await this.#messages.post(ref.chatId, part));
    }
  }

  async #sendAnswer({ id, chatId, content, media }: OutboundMessage): Promise<void> {
    const { api, settings: { apiUrl }, host: { clock }, signal, config } = this.#deps;
    const words = wordsOf(config.language);
    const { paths, leftOut } = await sendable(media, words);
    const parts = splitForSlack([content, ...leftOut].join("\n\n"));
    const steps: (() => Promise<unknown>)[] = [
      ...parts.map((part) => () => this.#messages.post(chatId, part)),
      ...paths.length === 0 ? [] : [async () => {
        const place = await this.#messages.placeOf(chatId);
        try {
          await uploadFiles(place, paths, { api, apiUrl, clock, signal, words });
        } catch (error) {
          if (error instanceof PermanentDeliveryError) await this.#sayRefused(chatId, paths, error);
          throw error;
        }
        this.threads.add(chatId);
      }],
    ];
    // What has arrived is not sent again when what follows is refused.
    await this.#steps.run(id, steps);
  }

  /** Who waits for a file hears why it does not come. */
  async #sayRefused(chatId: string, paths: readonly string[], { message }: Error): Promise<void> {
    const { host: { log }, config } = this.#deps;
    const name = paths.map((path) => basename(path)).join(", ");
    const text = wordsOf(config.language)("fileRefused", { name, reason: message });
    await this.#messages.post(chatId, text).catch((error) =>
      log.info("It was not said which files were refused", { reason: (error as Error).message })
    );
  }

  async #endTurn({ chatId, metadata: { channel, ts } }: OutboundMessage): Promise<void> {
    this.#typing.end(chatId);
    if (typeof channel === "string" && typeof ts === "string" && TS.test(ts)) {
      await this.#reactions.remove(channel, ts);
    }
    await this.#notes.end(chatId);
  }

  /** Apps show that they are at work in threads of direct conversations alone. */
  async #showStatus(chatId: string, status: string): Promise<void> {
    const { channel = "", threadTs } = readChatId(chatId) ?? {};
    if (!this.#hasStatus || !channel.startsWith("D") || threadTs === undefined) return;
    try {
      await this.#deps.api.call("assistant.threads.setStatus", {
        channel_id: channel,
        thread_ts: threadTs,
        status,
      });
    } catch (error) {
      // The app is no assistant, which is no fault.
      if ((error as { code?: unknown }).code === "missing_scope") this.#hasStatus = false;
    }
  }
}
