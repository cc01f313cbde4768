/**
 * Hands a post to the service, with its files, and shows to whoever wrote it that it was taken.
 *
 * @module
 */

import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import {
  abortable,
  InboundFiles,
  inPieces,
  others,
  splitQuotes,
} from "../../../lib/channel/platform/mod.ts";
import { Tries } from "../../../lib/channel/platform/tries.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { Words } from "../words.ts";
import type { HeardPost } from "./heard_post.ts";
import { fetchPostFiles } from "./post_files.ts";

/** What posts are taken with. */
export interface TakePostDeps {
  client: Pick<MattermostClient, "fetchFile" | "getUser" | "addReaction">;
  host: Pick<ChannelHost, "stateDir" | "transcribe" | "log">;
  words: Words;
  /** Our own user id. */
  myId: string;
  /** Name of an emoji; empty: none. */
  ackReaction: string;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  /** A turn of the chat has begun. */
  onTurn: (chatId: string) => void;
  /** Says something of the channel's own. */
  tell: (chatId: string, messageId: string, text: string) => Promise<unknown>;
  /** Whether the server is there as a whole. */
  isConnected: () => boolean;
}

/** Failures of one file, about two minutes of them, before its message goes on without it. */
const FILE_TRIES = 8;

/** Names of people that are kept. */
const MAX_NAMES = 1_000;

export class TakePost {
  readonly #deps: TakePostDeps;
  readonly #names = new Map<string, string>();
  readonly #fileTries = new Tries(FILE_TRIES);

  constructor(deps: TakePostDeps) {
    this.#deps = deps;
  }

  /** Resolves when the service has it. Rejects where another time may be better, and when it is ended. */
  async take(heard: HeardPost, signal: AbortSignal): Promise<void> {
    const { client, host, words, handleMessage, onTurn, tell, isConnected } = this.#deps;
    const { id, chatId, userId, createAt } = heard;
    const files = new InboundFiles(host.stateDir);
    try {
      const said = await fetchPostFiles(heard.files, {
        client,
        files,
        provenance: heard.text === "" && heard.files.length === 1 ? "own" : "file",
        transcribe: (path) => host.transcribe(path),
        words,
        isHopeless: (fileId) => isConnected() && this.#fileTries.isLast(fileId),
      });
      const senderName = heard.senderName ?? await this.#nameOf(userId);
      const published = await abortable(
        handleMessage({
          senderId: userId,
          chatId,
          ...inPieces([
            ...splitQuotes(heard.text, { reach: "paragraph" }),
            ...said.heard,
            ...said.notes.flatMap((note) => others("file", `(${note})`)),
          ]),
          ...files.paths.length > 0 && { media: files.paths },
          metadata: { post_id: id },
          messageId: id,
          sentAt: createAt,
          ...senderName !== undefined && { senderName },
        }),
        signal,
      );
      if (published.kind !== "turn" || published.repeated) return;
      onTurn(chatId);
      this.#acknowledge(id);
      // Who sent a file that was not read is told so, whatever becomes of the rest.
      if (said.notes.length === 0) return;
      await tell(chatId, `files:${id}`, said.notes.join("\n")).catch((error) =>
        host.log.warning("A note on files was not sent", { reason: String(error) })
      );
    } finally {
      await files.remove();
    }
  }

  #acknowledge(postId: string): void {
    const { client, myId, ackReaction, host } = this.#deps;
    if (ackReaction === "") return;
    client.addReaction(myId, postId, ackReaction).catch((error) =>
      host.log.info("A reaction was not set", { emoji: ackReaction, reason: String(error) })
    );
  }

  /** For posts of lists, which say no name. */
  async #nameOf(userId: string): Promise<string | undefined> {
    const known = this.#names.get(userId);
    if (known !== undefined) return known;
    try {
      const { username } = await this.#deps.client.getUser(userId);
      this.#names.set(userId, username);
      if (this.#names.size > MAX_NAMES) this.#names.delete(this.#names.keys().next().value!);
      return username;
    } catch {
      return undefined;
    }
  }
}
