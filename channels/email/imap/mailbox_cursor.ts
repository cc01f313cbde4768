/**
 * How far a mailbox is read, kept over restarts.
 *
 * @module
 */

import { join } from "@std/path";
import { readState, writeState } from "../account/write_state.ts";

export interface MailboxCursor {
  /** Server, name and folder: another mailbox has another cursor. */
  mailbox: string;
  uidValidity: string;
  /** Mails up to this one are done with. */
  lastUid: number;
  /** Its numbers have begun anew: of what lies there, only what is unread may be new. */
  isLost?: boolean;
  /** The mail that is being read: one that ends the whole process is not begun for ever. */
  trying?: { uid: number; times: number };
}

/** Keeps one in a file of a folder. */
export class CursorStore {
  readonly #path: string;

  constructor(stateDir: string) {
    this.#path = join(stateDir, "cursor.json");
  }

  /** Undefined at the first start; `damaged` where it cannot be read any more. */
  async read(): Promise<MailboxCursor | "damaged" | undefined> {
    try {
      const value = await readState(this.#path);
      if (value === undefined) return undefined;
      return isCursor(value) ? value : "damaged";
    } catch (error) {
      if (error instanceof SyntaxError) return "damaged";
      throw error;
    }
  }

  write(cursor: MailboxCursor): Promise<void> {
    return writeState(this.#path, cursor);
  }
}

function isCursor(value: unknown): value is MailboxCursor {
  const { mailbox, uidValidity, lastUid, trying } = Object(value) as Record<string, unknown>;
  const isCount = (each: unknown) => Number.isSafeInteger(each) && Number(each) >= 0;
  return typeof mailbox === "string" && typeof uidValidity === "string" && isCount(lastUid) &&
    (trying === undefined ||
      (isCount(Object(trying).uid) && isCount(Object(trying).times)));
}
