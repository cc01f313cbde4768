/**
 * What a chat in the terminal talks to: the service of this home, or one over the network.
 *
 * @module
 */

import type { AskedPart, Happening } from "../../lib/local/protocol.ts";
import type { Ask } from "../operator/operate_with.ts";

/** A message that was said before. */
export interface PastMessage {
  role: "user" | "assistant";
  text: string;
  turnId: string;
}

/** What became of a message. */
export type Outcome =
  | { turnId: string }
  /** It was a command, and this is the answer. */
  | { answer: string };

/** A connection. What it rejects with is the service's ServiceError. */
export interface ChatLink {
  /**
   * What happens in a session, whoever causes it: from the start of the turn that runs or from now on, or
   * after what an earlier connection saw. `onReady` is called once nothing is missed any more, with the
   * turn that runs. Ends when the session is deleted or the connection is lost.
   */
  follow(
    session: string,
    options: { signal: AbortSignal; goesOn: boolean; onReady: (running?: string) => void },
  ): AsyncIterable<Happening>;
  /** Sends a message. `stop` cancels its turn, also later. */
  say(session: string, input: AskedPart[], stop: AbortSignal): Promise<Outcome>;
  /** The last messages of a session, oldest first; none where it is not there. */
  history(session: string, limit: number): Promise<PastMessage[]>;
  /** Names of sessions, the newest first. */
  sessions(): Promise<string[]>;
  /** Resolves when the connection is lost for good. */
  readonly ended: Promise<unknown>;
}

/** What people and the model said last in a session. Rejects with `not_found` where it is not there. */
export async function lastMessages(ask: Ask, key: string, limit: number): Promise<PastMessage[]> {
  const { messages } = await ask({ op: "sessions.messages", key, limit });
  return messages.flatMap((each) =>
    each.role === "user" || each.role === "assistant"
      ? [{ role: each.role, text: each.text, turnId: each.turn_id }]
      : []
  );
}
