/**
 * What Slack tells, on its way to the service: read, kept on the disk, and handed on.
 *
 * @module
 */

import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import {
  approvalCommand,
  type InboundFiles,
  inPieces,
  type Intake,
  type IntakeEntry,
  others,
  splitQuotes,
} from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import { textOf } from "../api/slack_api.ts";
import type { SlackPlace } from "../events/chat_id.ts";
import { readClick, type SlackClick } from "../events/read_click.ts";
import { type HearingRules, readMessage, type SlackMessage } from "../events/read_message.ts";
import type { ApprovalCards } from "../outbound/approval_cards.ts";
import { clickMetadata } from "../outbound/click_replies.ts";
import type { Envelope } from "../socket/socket_connection.ts";
import { fromMrkdwn } from "../text/from_mrkdwn.ts";
import type { Words } from "../words.ts";
import type { FileWords } from "./incoming_files.ts";
import type { TakenThreads } from "./taken_threads.ts";
import type { UserNames } from "./user_names.ts";

/** What waits on the disk. */
export type SlackEntry = SlackMessage | SlackClick;

/** What it works with. */
export interface InboxDeps {
  rules: Omit<HearingRules, "isInThread">;
  words: Words;
  log: Pick<Log, "info" | "warning">;
  intake: Pick<Intake<SlackEntry>, "add">;
  threads: TakenThreads;
  cards: ApprovalCards;
  names: UserNames;
  isAllowed: (senderId: string) => boolean;
  publish: (message: HandledMessage) => Promise<Published>;
  /** A place for the files of one message. */
  openFiles: () => InboundFiles;
  fetchFiles: (
    message: SlackMessage,
    files: InboundFiles,
    signal: AbortSignal,
  ) => Promise<FileWords>;
  /** Says something in a chat, beside any turn. */
  say: (chatId: string, text: string) => Promise<unknown>;
  /** Says something to one member alone. */
  whisper: (place: SlackPlace, userId: string, text: string) => Promise<unknown>;
  /** Slack has left something out, which stands in the conversations. */
  onMissed: () => void;
  /** A turn has begun for a message. */
  onTurn: (message: SlackMessage) => void;
}

export class Inbox {
  readonly #deps: InboxDeps;
  readonly #rules: HearingRules;
  #hasWarned = false;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
    this.#rules = { ...deps.rules, isInThread: (chatId) => deps.threads.has(chatId) };
  }

  /** Resolves when what is told is on the disk, or not for us: Slack may be told so then. */
  async accept({ type, payload }: Envelope): Promise<void> {
    if (type === "interactive") return await this.#acceptClick(payload);
    if (type !== "events_api") return;
    if (textOf(payload, "type") === "app_rate_limited") {
      this.#deps.log.warning("Slack leaves out events: more than 30,000 came in an hour");
      return this.#deps.onMissed();
    }
    if (!this.#isOurs(payload)) return;
    await this.add([(payload as { event?: unknown }).event]);
  }

  /** Takes events of messages, and stores cursors, in one go. */
  async add(events: readonly unknown[], cursors?: Readonly<Record<string, string>>): Promise<void> {
    const { isAllowed, intake, threads } = this.#deps;
    const entries: IntakeEntry<SlackEntry>[] = [];
    for (const event of events) {
      const message = readMessage(event, this.#rules);
      // What a stranger writes takes no room.
      if (message === undefined || !isAllowed(message.senderId)) continue;
      threads.add(message.chatId);
      entries.push({ lane: message.chatId, id: message.ts, data: message });
    }
    if (entries.length > 0 || cursors !== undefined) await intake.add(entries, cursors);
  }

  /** Hands what waited to the service. Rejects where it has to be tried again. */
  async take(entry: SlackEntry, signal: AbortSignal): Promise<void> {
    if (entry.kind === "click") await this.#takeClick(entry);
    else await this.#takeMessage(entry, signal);
  }

  async #takeMessage(message: SlackMessage, signal: AbortSignal): Promise<void> {
    const { publish, openFiles, fetchFiles, names, words, rules: { self } } = this.#deps;
    const { chatId, ts, channel, senderId, userId, sentAt } = message;
    const files = openFiles();
    try {
      const { spoken, unheard, leftOut } = await fetchFiles(message, files, signal);
      const own = { selfId: self.userId, selfName: self.userName };
      const pieces = [
        ...splitQuotes(fromMrkdwn(message.text, own), { hasRest: true }),
        ...(message.shared ?? []).flatMap(({ text, author }) =>
          others("forwarded", fromMrkdwn(text, own), author)
        ),
        ...spoken,
        ...unheard.flatMap((name) => others("file", words("notHeard", { name }))),
      ].filter(({ text }) => text !== "");
      if (pieces.length === 0 && files.paths.length === 0) {
        // An empty mention asks for attention, as a word would.
        if (leftOut.length > 0) return await this.#sayLeftOut(chatId, leftOut);
        if (message.text.trim() === "") return;
        pieces.push({ text: `@${self.userName}` });
      }
      const name = await names.of(userId);
      const published = await publish({
        senderId,
        chatId,
        ...inPieces([...pieces, ...leftOut.flatMap((text) => others("file", `(${text})`))]),
        ...files.paths.length > 0 && { media: files.paths },
        metadata: { channel, ts },
        messageId: ts,
        ...name !== undefined && { senderName: name },
        sentAt,
      });
      if (published.kind !== "turn" || published.repeated) return;
      this.#deps.onTurn(message);
      if (leftOut.length > 0) await this.#sayLeftOut(chatId, leftOut);
    } finally {
      await files.remove();
    }
  }

  async #sayLeftOut(chatId: string, leftOut: readonly string[]): Promise<void> {
    try {
      await this.#deps.say(chatId, leftOut.join("\n\n"));
    } catch (error) {
      this.#deps.log.warning("It was not said which files were left out", {
        chat: chatId,
        reason: (error as Error).message,
      });
    }
  }

  async #acceptClick(payload: unknown): Promise<void> {
    const { cards, isAllowed, intake, words, whisper, log } = this.#deps;
    const click = readClick(payload, this.#rules.self);
    if (click === undefined) return;
    const problem = isAllowed(click.senderId) ? cards.problemOf(click) : words("notAllowed");
    if (problem !== undefined) {
      const { channel, threadTs, userId } = click;
      // Nobody waits for it.
      void whisper({ channel, threadTs }, userId, problem).catch((error) =>
        log.info("A word about a click was not said", { reason: (error as Error).message })
      );
      return;
    }
    // Not behind what waits in the chat: what waits may be a turn that needs this answer.
    const lane = `approval:${click.button.id}`;
    await intake.add([{ lane, id: click.actionTs, data: click }]);
    cards.noteClick(click);
  }

  async #takeClick(click: SlackClick): Promise<void> {
    const { button: { id, digest, chatId }, isApproved, senderId, userName, actionTs } = click;
    await this.#deps.publish({
      senderId,
      chatId,
      content: approvalCommand({ isApproved, id, digest }),
      messageId: `click:${actionTs}:${senderId}`,
      metadata: clickMetadata(click),
      ...userName !== "" && { senderName: userName.slice(0, 100).toWellFormed() },
    });
  }

  /** Every workspace that has the app tells its events to whoever has the app's token. */
  #isOurs(payload: unknown): boolean {
    const { teamId, enterpriseId } = this.#rules.self;
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
      this.#deps.log.warning("Events of another workspace come to this app, and are left out", {
        workspace: teams[0]!.slice(0, 30),
        advice: "make an app of its own for each workspace",
      });
    }
    return isOurs;
  }
}
