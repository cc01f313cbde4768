/**
 * The tail rule: the turn is what follows the last assistant
 * message. Everything before it is the client's copy of a history of which the service has its own.
 *
 * @module
 */

import { isBlank } from "../../base/is_blank.ts";
import { MAX_FILES, MAX_FILES_BYTES, type Upload } from "../../documents/read_upload.ts";
import { MAX_FILE_BYTES } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";

/** A file of a request, not yet looked into. */
export type RequestFile = Upload;

/** A piece of a request's turn. */
export type RequestPart = { type: "text"; text: string } | { type: "file"; file: RequestFile };

/** A message of a request's list, its content not yet looked at. */
export interface TailMessage {
  role: string;
  /** Where it stands, such as `messages[3]`. */
  param: string;
  /** Asked of the messages of the tail alone; throws what is wrong with them. */
  parts: () => RequestPart[];
}

const TAIL_ROLES: readonly string[] = ["user", "system", "developer"];

/** Where the tail of a list begins: after its last assistant message. */
export function tailStart(messages: readonly { role: string }[]): number {
  return messages.findLastIndex(({ role }) => role === "assistant") + 1;
}

/**
 * The parts of the turn that a list stands for. Messages are joined with a blank line, the texts of
 * one message with a newline; files keep their place; blank text is dropped.
 *
 * Throws `no_user_message` when the tail has no user message or nothing in it, `invalid_request` for
 * another role, `too_large` for too many files, and what the messages throw.
 */
export function turnParts(
  messages: readonly TailMessage[],
  list: "messages" | "input",
): RequestPart[] {
  const tail = messages.slice(tailStart(messages));
  requireRoles(tail, list);
  const joiner = new PartJoiner();
  for (const message of tail) joiner.addMessage(message.parts());
  const parts = joiner.finish();
  if (parts.length === 0) {
    throw new ServiceError(
      "no_user_message",
      `${list} must hold text or a file after the last assistant message, not only blanks`,
      { param: list },
    );
  }
  return parts;
}

/** The error of a file that is over the limit of one. */
export function fileTooLarge({ param, name }: Omit<RequestFile, "bytes">): ServiceError {
  const what = name === "" ? param : `${param} (${JSON.stringify(name.slice(0, 200))})`;
  return new ServiceError("too_large", `${what} is over the limit of 10 MiB a file`, { param });
}

function requireRoles(tail: readonly TailMessage[], list: string): void {
  const wrong = tail.find(({ role }) => !TAIL_ROLES.includes(role));
  if (wrong !== undefined) {
    const param = `${wrong.param}.role`;
    throw new ServiceError(
      "invalid_request",
      `${param} must be user, system or developer after the last assistant message, got ${
        JSON.stringify(wrong.role.slice(0, 40))
      }`,
      { param },
    );
  }
  if (!tail.some(({ role }) => role === "user")) {
    throw new ServiceError(
      "no_user_message",
      `${list} must hold a message of the user after the last assistant message`,
      { param: list },
    );
  }
}

/** Joins neighbouring texts and counts files. */
class PartJoiner {
  readonly #parts: RequestPart[] = [];
  #text: string | undefined;
  #files = 0;
  #filesBytes = 0;

  addMessage(parts: readonly RequestPart[]): void {
    parts.forEach((part, index) => {
      if (part.type === "file") this.#addFile(part.file);
      else this.#addText(part.text, index === 0 ? "\n\n" : "\n");
    });
  }

  finish(): RequestPart[] {
    this.#closeText();
    return this.#parts;
  }

  /** `separator` stands before it, if the part before was a text too. */
  #addText(text: string, separator: string): void {
    this.#text = this.#text === undefined ? text : this.#text + separator + text;
  }

  #addFile(file: RequestFile): void {
    this.#closeText();
    const { param, bytes } = file;
    if (bytes.length > MAX_FILE_BYTES) throw fileTooLarge(file);
    if (++this.#files > MAX_FILES) {
      throw new ServiceError("too_large", `${param} is over the limit of ${MAX_FILES} files`, {
        param,
      });
    }
    this.#filesBytes += bytes.length;
    if (this.#filesBytes > MAX_FILES_BYTES) {
      throw new ServiceError("too_large", `${param} is over the limit of 64 MiB for all files`, {
        param,
      });
    }
    this.#parts.push({ type: "file", file });
  }

  /** Blank text is no input, and providers refuse it as a part. */
  #closeText(): void {
    if (this.#text !== undefined && !isBlank(this.#text)) {
      this.#parts.push({ type: "text", text: this.#text });
    }
    this.#text = undefined;
  }
}
