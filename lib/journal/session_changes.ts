import type { SessionUpdated } from "../contract/events.ts";
import { checkTitle } from "./check_title.ts";
import { checkName, invalid } from "./checks.ts";
import { encodeEvent } from "./event_rows.ts";
import type { JournalParts } from "./turn_writes.ts";
import type { Journal, Session } from "../contract/journal.ts";
import { Refused, type Writer } from "./writer.ts";

/** What {@linkcode createSessionChanges} needs. */
export interface SessionChangesDependencies {
  writer: Writer;
  parts: Pick<JournalParts, "sessions" | "turns" | "events" | "messages" | "search">;
}

/**
 * What people change of a session. What others in the session see of it is said as `session_updated` in the
 * commit of the change, and a change that changes nothing says nothing.
 */
export function createSessionChanges(
  { writer, parts }: SessionChangesDependencies,
): Pick<Journal, "renameSession" | "setModelPreset" | "newContext" | "pinSession"> {
  const { sessions, turns, events, messages, search } = parts;

  /** Says how the session is now, and returns that. */
  function said(key: string, scope: SessionUpdated["scope"]): Session {
    const { id, title, modelPreset } = sessions.find(key)!;
    const event: SessionUpdated = {
      type: "session_updated",
      scope,
      ...modelPreset !== undefined && { modelPreset },
      title,
    };
    events.add({ sessionId: id, turn: 0, id: "" }, encodeEvent(event));
    return sessions.find(key)!;
  }

  return {
    async renameSession(key, typed) {
      const title = checkTitle(typed);
      return await writer.write("full", () => {
        const session = sessions.find(key);
        if (session === undefined || session.title === title) return session;
        sessions.setTitle(session.id, title);
        search().retitle(session.id, title);
        return said(key, "title");
      });
    },
    async setModelPreset(key, preset) {
      checkName("key", key);
      if (preset !== undefined) checkName("preset", preset);
      return await writer.write("full", () => {
        const id = sessions.ensure(key);
        const session = sessions.find(key)!;
        if (session.modelPreset === preset) return session;
        sessions.setModelPreset(id, preset);
        return said(key, "model");
      });
    },
    async newContext(key) {
      return await writer.write("full", () => {
        const session = sessions.find(key);
        if (session === undefined) return undefined;
        if (turns.hasOpen(session.id)) {
          return new Refused(
            invalid(
              "key",
              `Cannot begin a new context in session ${JSON.stringify(key)}: a turn is open in it`,
            ),
          );
        }
        messages.startAnew(session.id);
        return said(key, "context");
      });
    },
    async pinSession(key, pinned) {
      return await writer.write("full", () => {
        const session = sessions.find(key);
        if (session === undefined) return undefined;
        sessions.setPinned(session.id, pinned);
        return sessions.find(key);
      });
    },
  };
}
