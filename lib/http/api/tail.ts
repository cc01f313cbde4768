/**
 * The tail rule (document 1, Turn construction): the turn is what follows the last assistant
 * message. Everything before it is the client's copy of a history of which the service has its own.
 *
 * @module
 */

import { isBlank } from "../../agent/is_blank.ts";
import type { UserPart } from "../../agent/messages.ts";
import { ServiceError } from "../../errors.ts";
import { type AnyMessage, type Content, contentSchema } from "./chat_request.ts";
import { readImage } from "./image_part.ts";
import { requestError } from "./request_error.ts";

/** Files of one request. */
export const MAX_FILES = 20;

/** Bytes of all files of one request together. */
export const MAX_FILES_BYTES = 64 * 1024 * 1024;

const TAIL_ROLES: readonly string[] = ["user", "system", "developer"];

/**
 * The user input that a list of messages stands for. Messages are joined with a blank line, the text
 * parts of one message with a newline, images keep their place; pure.
 *
 * Throws `no_user_message` when the tail has no user message or nothing in it, `invalid_request` for
 * another role or a wrong content, and what {@linkcode readImage} throws.
 */
export function turnInput(messages: readonly AnyMessage[]): UserPart[] {
  const start = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  const tail = messages.slice(start);
  requireRoles(tail, start);
  const input = new InputBuilder();
  tail.forEach(({ content }, offset) => {
    const at = ["messages", start + offset, "content"] as const;
    const checked = contentSchema.safeParse(content);
    if (!checked.success) throw requestError(checked.error, content, at);
    addContent(input, checked.data, `messages[${start + offset}].content`);
  });
  const parts = input.finish();
  if (parts.length === 0) {
    throw new ServiceError(
      "no_user_message",
      "messages must hold text or an image after the last assistant message, not only blanks",
      { param: "messages" },
    );
  }
  return parts;
}

function requireRoles(tail: readonly AnyMessage[], start: number): void {
  const wrong = tail.findIndex(({ role }) => !TAIL_ROLES.includes(role));
  if (wrong !== -1) {
    const param = `messages[${start + wrong}].role`;
    throw new ServiceError(
      "invalid_request",
      `${param} must be user, system or developer after the last assistant message, got ${
        JSON.stringify(tail[wrong]!.role.slice(0, 40))
      }`,
      { param },
    );
  }
  if (!tail.some(({ role }) => role === "user")) {
    throw new ServiceError(
      "no_user_message",
      "messages must hold a message of the user after the last assistant message",
      { param: "messages" },
    );
  }
}

function addContent(input: InputBuilder, content: Content, param: string): void {
  if (typeof content === "string") return input.addText(content, "\n\n");
  content.forEach((part, index) => {
    if (part.type === "text") input.addText(part.text, index === 0 ? "\n\n" : "\n");
    else input.addImage(part.image_url.url, `${param}[${index}].image_url.url`);
  });
}

/** Joins neighbouring texts and counts files. */
class InputBuilder {
  readonly #parts: UserPart[] = [];
  #text: string | undefined;
  #files = 0;
  #filesBytes = 0;

  /** `separator` stands before it, if the part before was a text too. */
  addText(text: string, separator: string): void {
    this.#text = this.#text === undefined ? text : this.#text + separator + text;
  }

  addImage(url: string, param: string): void {
    this.#closeText();
    if (++this.#files > MAX_FILES) {
      throw new ServiceError("too_large", `${param} is over the limit of ${MAX_FILES} files`, {
        param,
      });
    }
    const { part, bytes } = readImage(url, param);
    this.#filesBytes += bytes;
    if (this.#filesBytes > MAX_FILES_BYTES) {
      throw new ServiceError("too_large", `${param} is over the limit of 64 MiB for all files`, {
        param,
      });
    }
    this.#parts.push(part);
  }

  finish(): UserPart[] {
    this.#closeText();
    return this.#parts;
  }

  /** Blank text is no input, and providers refuse it as a part. */
  #closeText(): void {
    if (this.#text !== undefined && !isBlank(this.#text)) {
      this.#parts.push({ type: "text", text: this.#text });
    }
    this.#text = undefined;
  }
}
