import type { SaidFromElsewhere } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";
import { checkName, invalid } from "./checks.ts";
import { encodeEvent } from "./event_rows.ts";
import type { Outbox } from "./outbox.ts";
import { mediaHashes } from "./session_files.ts";
import type { JournalParts } from "./turn_writes.ts";
import type { Journal } from "../contract/journal.ts";
import type { Writer } from "./writer.ts";

/** What {@linkcode createSaying} needs. */
export interface SayingDependencies {
  writer: Writer;
  parts: Pick<JournalParts, "sessions" | "events" | "files" | "said">;
  outbox: Pick<Outbox, "sent">;
}

/**
 * Messages from elsewhere. The outbox row is what remembers an id: it becomes `sent` in the transaction
 * that says the message, so a crash leaves both or neither, and a repeat finds it sent.
 */
export function createSaying(
  { writer, parts, outbox }: SayingDependencies,
): Pick<Journal, "say"> {
  const { sessions, events, files, said } = parts;

  return {
    async say({ id, sessionKey, text, media = [], replyTo, turnId }) {
      for (const [name, value] of Object.entries({ id, sessionKey, replyTo, turnId })) {
        if (value !== undefined) checkName(name, value);
      }
      const colon = sessionKey.indexOf(":");
      if (colon < 1 || colon === sessionKey.length - 1) {
        throw invalid(
          "sessionKey",
          `Cannot say something in ${JSON.stringify(sessionKey)}: <channel>:<id> is needed`,
        );
      }
      if (text.trim() === "" && media.length === 0) {
        throw invalid("text", "Cannot say a blank message without media");
      }
      const event: SaidFromElsewhere = {
        type: "message",
        text,
        ...media.length > 0 && { media: [...media] },
        ...replyTo !== undefined && { replyTo },
      };
      const message: Message = {
        role: "assistant",
        text,
        calls: [],
        ...media.length > 0 && { media: [...media] },
      };
      const encoded = encodeEvent(event);
      const body = JSON.stringify(message);
      const row = {
        id,
        turnId,
        channel: sessionKey.slice(0, colon),
        chatId: sessionKey.slice(colon + 1),
        content: text,
      };
      return await writer.write("full", () => {
        if (!outbox.sent(row)) return false;
        const sessionId = sessions.ensure(sessionKey);
        const seq = events.add({ sessionId, turn: 0, id: "" }, encoded);
        said.add(sessionId, seq, message, body);
        for (const sha256 of mediaHashes(media)) files.add(sessionId, sha256);
        sessions.touch(sessionId);
        return true;
      }, encoded.body.length + body.length);
    },
  };
}
