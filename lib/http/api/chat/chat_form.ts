/**
 * The form of POST /v1/chat/completions: the fields `message`, `files`,
 * `session_id`, `stream` and `model`. Other fields of text are ignored, as in the JSON body; other
 * files are not, because whoever sent one would miss it in the answer.
 *
 * @module
 */

import { isBlank } from "../../../base/is_blank.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { FormEntry } from "../../multipart.ts";
import type { ChatRequest } from "./chat_request.ts";
import { check } from "../../../listen/request_error.ts";
import { chooseSession, DEFAULT_SESSION_ID, sessionIdSchema } from "../session_id.ts";
import { type RequestPart, turnParts } from "../tail.ts";

const FIELDS = ["message", "session_id", "stream", "model"] as const;

type Field = typeof FIELDS[number];

/**
 * Checks a form and the header X-Session-Id. Throws `invalid_request`, naming the field, its value
 * and what was expected; `no_user_message`; `too_large` for too many files.
 */
export function parseChatForm(
  entries: readonly FormEntry[],
  sessionHeader: string | null,
): ChatRequest {
  const texts: Partial<Record<Field, string>> = {};
  const files: RequestPart[] = [];
  for (const entry of entries) {
    if (!("text" in entry)) {
      // What a browser sends for a file input in which nothing was chosen.
      if (entry.fileName === "" && entry.bytes.length === 0) continue;
      if (entry.name !== "files") throw wrong(entry.name, "text, or left out", "a file");
      const { fileName, bytes } = entry;
      const param = `files[${files.length}]`;
      files.push({ type: "file", file: { param, name: fileName, bytes, expects: "any" } });
    } else if (entry.name === "files") {
      throw wrong("files", "files, each with a filename", "text");
    } else if (isField(entry.name)) {
      if (texts[entry.name] !== undefined) throw wrong(entry.name, "one field", "several");
      texts[entry.name] = entry.text;
    }
  }
  const { message = "", session_id, stream, model } = texts;
  if (isBlank(message) && files.length === 0) {
    throw new ServiceError(
      "no_user_message",
      "message must hold text, not only blanks, unless there are files",
      { param: "message" },
    );
  }
  const field = session_id === undefined
    ? undefined
    : check(sessionIdSchema, session_id, ["session_id"]);
  const options = {
    model,
    stream: isTrue(stream),
    includeUsage: false,
    includeProgress: false,
  };
  return {
    parts: turnParts([{
      role: "user",
      param: "message",
      parts: () => [{ type: "text", text: message }, ...files],
    }], "messages"),
    fields: options,
    sessionId: chooseSession(field, sessionHeader) ?? DEFAULT_SESSION_ID,
    ...options,
    takesApprovals: false,
  };
}

function isField(name: string): name is Field {
  return (FIELDS as readonly string[]).includes(name);
}

function isTrue(stream: string | undefined): boolean {
  if (stream === undefined || stream === "false") return false;
  if (stream === "true") return true;
  throw wrong("stream", "true or false", JSON.stringify(stream.slice(0, 80)));
}

function wrong(param: string, expected: string, got: string): ServiceError {
  return new ServiceError("invalid_request", `${param} must be ${expected}, got ${got}`, { param });
}
