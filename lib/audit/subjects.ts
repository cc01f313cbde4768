/**
 * What a record is about. The end of an action and an answer to an approval name only the record
 * before them, so that one is kept in mind.
 *
 * @module
 */

import type { AuditRecord } from "./record.ts";

/** What records are filtered by, and shown with. */
export interface Subject {
  tool?: string;
  capability?: string;
  session?: string;
  /** In words: a path, an address, a chat, a program. */
  target?: string;
}

/** Beginnings that are kept; the oldest of more are forgotten. */
const MAX_KEPT = 10_000;

/** Follows records, oldest first. */
export class Subjects {
  readonly #kept = new Map<string, Subject>();

  /** What a record is about. To be called for each, also for those that are not shown. */
  of({ kind, seq, data }: AuditRecord): Subject {
    const own: Subject = {
      tool: text(data.tool),
      capability: text(data.capability),
      session: text(data.session),
      target: describeTarget(data.target),
    };
    switch (kind) {
      case "action.start":
        this.#keep(`action ${seq}`, own);
        return own;
      case "action.end":
        return this.#take(`action ${data.start}`) ?? own;
      case "approval.requested":
        this.#keep(`approval ${data.approval}`, own);
        return own;
      case "approval.refused":
        return this.#kept.get(`approval ${data.approval}`) ?? own;
      case "approval.answered":
      case "approval.expired":
      case "approval.void":
        return this.#take(`approval ${data.approval}`) ?? own;
      default:
        return own;
    }
  }

  #keep(name: string, subject: Subject): void {
    this.#kept.set(name, subject);
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }

  #take(name: string): Subject | undefined {
    const subject = this.#kept.get(name);
    this.#kept.delete(name);
    return subject;
  }
}

/** A recorded target in words; undefined when there is none. */
export function describeTarget(target: unknown): string | undefined {
  if (target === undefined || target === null) return undefined;
  if (typeof target === "string") return target;
  const { kind, real, access, url, channel, chatId, program, argv, reason, name } =
    target as Record<
      string,
      unknown
    >;
  switch (kind) {
    case "path":
      return `${access} ${real}`;
    case "url":
      return String(url);
    case "chat":
      return `${channel}:${chatId}`;
    case "command":
      return Array.isArray(argv) ? argv.map(quote).join(" ") : `${program} (arguments as digest)`;
    case "automation":
      return `automation ${JSON.stringify(name)}`;
    case "unresolved":
      return `unresolved: ${reason}`;
    default:
      return JSON.stringify(target);
  }
}

function quote(word: unknown): string {
  const shown = String(word);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : JSON.stringify(shown);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
