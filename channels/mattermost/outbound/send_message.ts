/**
 * Delivers what the service sends: answers in posts that fit, files with them, progress in its quiet form
 * and approvals with their buttons.
 *
 * @module
 */

import { eventOf } from "../../../lib/channel/outbound_event.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { SendSteps, type StatusNotes, type Typing } from "../../../lib/channel/platform/mod.ts";
import type { ApprovalPosts } from "../actions/approval_posts.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { readChatId } from "../chat_address.ts";
import { toPosts } from "../text/to_mattermost.ts";
import type { Words } from "../words.ts";
import type { Poster } from "./poster.ts";
import { type UploadedFiles, uploadFiles } from "./upload_files.ts";

/** What messages are sent with. */
export interface SendMessageDeps {
  client: Pick<MattermostClient, "uploadFile">;
  poster: Pick<Poster, "post">;
  notes: Pick<StatusNotes<string>, "show" | "end">;
  typing: Pick<Typing, "end">;
  approvals: Pick<ApprovalPosts, "show" | "resolve">;
  /** Where clicks are posted to; undefined: there are no buttons. */
  actionsUrl: () => string | undefined;
  words: Words;
  /** Characters of a post. */
  maxRunes: number;
  /** Bytes of a file. */
  maxFileBytes: number;
}

/** Characters of a note. */
const MAX_NOTE_CHARS = 500;

/** Messages whose uploads are known. */
const MAX_UPLOADS = 200;

/** Files of one post. */
const MAX_POST_FILES = 10;

export class SendMessage {
  readonly #deps: SendMessageDeps;
  readonly #steps = new SendSteps<string>();
  /** Files of messages whose posts are not all there. */
  readonly #uploads = new Map<string, UploadedFiles>();

  constructor(deps: SendMessageDeps) {
    this.#deps = deps;
  }

  /** Resolves when everything of it is there; rejects as `BaseChannel.send` does. */
  async send(message: OutboundMessage): Promise<void> {
    const { notes, typing, approvals, actionsUrl } = this.#deps;
    const { chatId, content } = message;
    const event = eventOf(message);
    switch (event?.type) {
      case undefined:
      // It is to stay, and not to go with the turn.
      case "goal_status":
        return await this.#answer(message);
      case "progress":
        return await notes.show(chatId, toPosts(content, MAX_NOTE_CHARS)[0] ?? "");
      case "turn_end":
        typing.end(chatId);
        return await notes.end(chatId);
      case "approval": {
        const url = actionsUrl();
        if (url === undefined) return await this.#answer(message);
        return await approvals.show(message, event, url);
      }
      case "approval_resolved":
        if (!await approvals.resolve(event, content)) await this.#answer(message);
        return;
      default:
        // Mattermost has nothing for it.
        return;
    }
  }

  async #answer({ id, chatId, content, media }: OutboundMessage): Promise<void> {
    const { poster, maxRunes } = this.#deps;
    if (content.trim() === "" && media.length === 0) return;
    const address = readChatId(chatId);
    const { ids, notes } = await this.#uploaded(id, media, address.channelId);
    const texts = toPosts([content, ...notes].join("\n\n"), maxRunes);
    // The files stand below the last of the text, and more than fit there in posts of their own.
    const last = Math.max(0, texts.length - 1);
    const count = Math.max(texts.length, last + Math.ceil(ids.length / MAX_POST_FILES));
    const steps = Array.from({ length: count }, (_, part) => () => {
      const from = (part - last) * MAX_POST_FILES;
      const fileIds = part < last ? [] : ids.slice(from, from + MAX_POST_FILES);
      return poster.post({ address, messageId: id, part, text: texts[part] ?? "", fileIds });
    });
    await this.#steps.run(id, steps);
    this.#uploads.delete(id);
  }

  /** Those of a message, once: a post that is refused uploads nothing anew. */
  async #uploaded(
    id: string,
    media: OutboundMessage["media"],
    channelId: string,
  ): Promise<UploadedFiles> {
    const known = this.#uploads.get(id);
    if (known !== undefined) return known;
    const { client, words, maxFileBytes } = this.#deps;
    const uploaded = await uploadFiles(media, channelId, { client, maxFileBytes, words });
    if (media.length > 0) this.#uploads.set(id, uploaded);
    if (this.#uploads.size > MAX_UPLOADS) {
      this.#uploads.delete(this.#uploads.keys().next().value!);
    }
    return uploaded;
  }
}
