import type { UserPart } from "../../contract/messages.ts";
import { markedText } from "../../contract/text_part.ts";
import type { StoredMessage } from "../../contract/journal.ts";
import type { MessageRow } from "./session_schemas.ts";

/** What a row depends on beside its message. */
export interface MessageRowContext {
  /** Place of the message among those of people, if it is one. */
  userIndex: number;
  /** Whether the model's reasoning is shown. */
  showReasoning: boolean;
  /** Absent: no links are given. */
  files?: Files;
}

/** Gives links to files. */
export interface Files {
  /** The folder of files that came or went with messages, each by its hash. */
  dir: string;
  /** For a file of that folder; undefined for any other one. */
  sign(path: string, name?: string): string | undefined;
}

type UserRow = Extract<MessageRow, { role: "user" }>;
type Attachment = UserRow["attachments"][number];

/** A message as it is shown. What the model gave for itself alone is left out. */
export function toMessageRow(
  { id, turnId, message }: StoredMessage,
  context: MessageRowContext,
): MessageRow {
  const head = { id, turn_id: turnId };
  switch (message.role) {
    case "user": {
      const attachments = attachmentsOf(message.parts, context.files);
      return {
        ...head,
        role: "user",
        user_index: context.userIndex,
        text: textOf(message.parts),
        attachments,
        media_urls: attachments.flatMap(({ url }) => url === undefined ? [] : [url]),
      };
    }
    case "assistant": {
      const { text, reasoning, calls, media } = message;
      return {
        ...head,
        role: "assistant",
        text,
        ...context.showReasoning && reasoning !== undefined && { reasoning },
        tool_calls: calls.map(({ callId, tool, args }) => ({ call_id: callId, tool, args })),
        ...media !== undefined && {
          media: media.map(({ path }) => path),
          media_urls: media.flatMap(({ path, name }) => context.files?.sign(path, name) ?? []),
        },
      };
    }
    case "tool":
      return {
        ...head,
        role: "tool",
        results: message.results.map(({ callId, tool, output, failed, tookMs }) => ({
          call_id: callId,
          tool,
          output,
          failed,
          ...tookMs !== undefined && { took_ms: tookMs },
        })),
      };
    case "summary":
      return { ...head, role: "summary", text: message.text };
  }
}

/** Texts of one message are joined by a line break, other people's words marked. */
export function textOf(parts: readonly UserPart[]): string {
  return parts.flatMap((part) => part.type === "text" ? [markedText(part)] : []).join("\n");
}

/** Files of a message, with links where there are any. */
export function attachmentsOf(parts: readonly UserPart[], files?: Files): Attachment[] {
  return parts.flatMap((part) => attachmentOf(part, files));
}

function attachmentOf(part: UserPart, files?: Files): Attachment[] {
  if (part.type === "text") return [];
  const { type, mediaType } = part;
  if (!("file" in part)) {
    // As the first version kept images: in the message itself.
    return [{ type, media_type: mediaType, bytes: Math.floor(part.data.length * 3 / 4) }];
  }
  const name = part.type === "document" ? part.name : undefined;
  const url = files?.sign(`${files.dir}/${part.file.sha256}`, name);
  return [{
    type,
    ...name !== undefined && { name },
    media_type: mediaType,
    bytes: part.file.bytes,
    ...url !== undefined && { url },
  }];
}
