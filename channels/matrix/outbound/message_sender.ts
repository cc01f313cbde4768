/**
 * Sends a message: its text in parts, then its files. Each event has a transaction of its own that follows
 * from the message's id, so that a message that is sent again is there once.
 *
 * @module
 */

import { SendSteps } from "../../../lib/channel/platform/mod.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { deliveryError } from "../api/faults.ts";
import type { Json, MatrixApi } from "../api/matrix_api.ts";
import type { MatrixPlace } from "../chat_id.ts";
import { partsOf, relates, type Relation, textContent } from "../text/message_content.ts";
import { sizeWords, type Words } from "../words.ts";
import { fileContent, namedFile } from "./file_content.ts";
import type { RoomWriter } from "./room_writer.ts";
import type { Transactions } from "./transactions.ts";

/** What messages are sent with. */
export interface MessageSenderDeps {
  api: Pick<MatrixApi, "upload" | "uploadLimit">;
  writer: RoomWriter;
  transactions: Transactions;
  words: Words;
}

/** Files whose upload is remembered until they were sent. */
const MAX_UPLOADED = 200;

/** Files that are sent are read whole. */
const MAX_SENT_BYTES = 100 * 1024 * 1024;

/** Rejects with the errors of deliveries. */
export class MessageSender {
  readonly #deps: MessageSenderDeps;
  readonly #steps = new SendSteps<string>();
  /** Addresses of files by their message and place in it: an event that is refused uploads nothing anew. */
  readonly #uploaded = new Map<string, string>();
  #limit: Promise<number | undefined> | undefined;

  constructor(deps: MessageSenderDeps) {
    this.#deps = deps;
  }

  /** Resolves with the ids of its events: none for a message without content. */
  async send(
    { id, chatId, content, media, metadata }: OutboundMessage,
    msgtype: "m.text" | "m.notice" = "m.text",
  ): Promise<string[]> {
    const { writer, transactions } = this.#deps;
    const place = writer.placeOf(chatId);
    const relation = relationOf(place, metadata);
    const texts = partsOf(content);
    const steps: (() => Promise<Json>)[] = texts.map((text, index) => () =>
      Promise.resolve(textContent(text, msgtype, index === 0 ? relation : following(relation)))
    );
    for (const path of media) {
      const isFirst = steps.length === 0;
      const key = `${id} ${steps.length}`;
      steps.push(() => this.#file(path, key, isFirst ? relation : following(relation)));
    }
    return await this.#steps.run(
      id,
      steps.map((step, at) => async () => {
        const event = await step();
        const txnId = await transactions.idOf("message", id, String(at));
        return await writer.send(place.roomId, "m.room.message", event, txnId);
      }),
    );
  }

  /** The event of a file; in words where the server does not take so much. */
  async #file(path: string, key: string, relation: Relation): Promise<Json> {
    const { api, words } = this.#deps;
    const file = namedFile(path);
    const limit = Math.min(await this.#uploadLimit() ?? Infinity, MAX_SENT_BYTES);
    const tooLarge = (bytes: number) =>
      textContent(
        words("sendTooLarge", { name: `\`${file.name}\``, limit: sizeWords(bytes) }),
        "m.text",
        relation,
      );
    const bytes = await readWithin(path, limit);
    if (bytes === undefined) return tooLarge(limit);
    try {
      const mxc = this.#uploaded.get(key) ??
        await api.upload(bytes, file.mimeType, file.name);
      this.#uploaded.set(key, mxc);
      if (this.#uploaded.size > MAX_UPLOADED) {
        this.#uploaded.delete(this.#uploaded.keys().next().value!);
      }
      return { ...fileContent(file, bytes, mxc), ...relates(relation) };
    } catch (error) {
      const { errcode, httpStatus } = error as { errcode?: string; httpStatus?: number };
      // A proxy in front of the server may take less than the server says.
      if (errcode === "M_TOO_LARGE" || httpStatus === 413) return tooLarge(bytes.length - 1);
      throw deliveryError(error);
    }
  }

  async #uploadLimit(): Promise<number | undefined> {
    this.#limit ??= this.#deps.api.uploadLimit();
    try {
      return await this.#limit;
    } catch {
      // The upload itself will tell.
      this.#limit = undefined;
      return undefined;
    }
  }
}

/** Where an answer stands: in the thread, and in a room beside the question that it answers. */
export function relationOf(
  { threadId }: MatrixPlace,
  metadata: OutboundMessage["metadata"],
): Relation {
  const { eventId, senderId, isShared } = metadata;
  const answers = isShared === true && typeof eventId === "string" && eventId.startsWith("$");
  return {
    ...threadId !== undefined && { threadId },
    ...answers && { replyTo: eventId },
    ...answers && typeof senderId === "string" && { mentions: [senderId] },
  };
}

/** Further parts stay in the thread, and call nobody again. */
function following({ threadId }: Relation): Relation {
  return threadId === undefined ? {} : { threadId };
}

/** Undefined for a file that is larger. */
async function readWithin(
  path: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const { size } = await Deno.stat(path);
    return size > maxBytes ? undefined : await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new PermanentDeliveryError(`A file of the message is gone: ${namedFile(path).name}`);
    }
    throw error;
  }
}
