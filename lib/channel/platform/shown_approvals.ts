/**
 * Which message shows which approval, and who has clicked on it: kept on the disk, so that buttons outlive
 * a restart. A click that is late or a second one is told from one that counts; whether who clicked may
 * answer at all is the service's to say.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { OutboundEvent } from "../../contract/outbound_message.ts";
import type { Memory } from "./memory.ts";

/** An approval as the service asks for it. */
export type ApprovalEvent = Extract<OutboundEvent, { type: "approval" }>;

/** How it came out. */
export type ApprovalResolvedEvent = Extract<OutboundEvent, { type: "approval_resolved" }>;

/** One click of one person. */
export interface ApprovalClick {
  approvalId: string;
  senderId: string;
  /** The platform's own: the same click that is told again is no second one. */
  clickId: string;
}

/**
 * Why a click counts for nothing: the approval waits no more, nobody has answered it in time, or the same
 * person has clicked before.
 */
export type ClickProblem = "over" | "expired" | "repeated";

/** What they are kept with. */
export interface ShownApprovalsDeps {
  memory: Pick<Memory, "get" | "set" | "entries">;
  clock: Pick<Clock, "now" | "elapsed">;
}

/** People of one approval whose clicks are known; nobody else is kept from answering. */
const MAX_CLICKED = 50;

/** A click that is not on record after so long was lost on its way, milliseconds. */
const CLAIM_MS = 3 * 60_000;

const KIND = "approval";

interface Kept<Shown> {
  shown?: Shown;
  /** Milliseconds since 1970. */
  expiresAt?: number;
  isOver?: true;
  /** First clicks, by person. */
  clicks: Record<string, string>;
}

/** `Shown`, plain JSON: all that is needed to take the buttons away. */
export class ShownApprovals<Shown> {
  readonly #deps: ShownApprovalsDeps;
  /** Clicks that count and are not on record yet, by approval and person. */
  readonly #claims = new Map<string, { clickId: string; atMs: number }>();

  constructor(deps: ShownApprovalsDeps) {
    this.#deps = deps;
  }

  /** It stands in a chat. The same one again keeps what is known of its clicks. */
  add({ id, expiresAt }: Pick<ApprovalEvent, "id" | "expiresAt">, shown: Shown): void {
    this.#set(id, { clicks: {}, ...this.#get(id), shown, expiresAt });
  }

  /** What shows it; undefined where that is not known. */
  get(approvalId: string): Shown | undefined {
    return this.#get(approvalId)?.shown;
  }

  /** Id of the newest that is shown so; undefined where there is none. */
  find(isShownSo: (shown: Shown) => boolean): string | undefined {
    const all = this.#deps.memory.entries<Kept<Shown>>(KIND);
    return all.findLast(([, { shown }]) => shown !== undefined && isShownSo(shown))?.[0];
  }

  /** It waits no more, and no click counts from now on. Gives what shows it. */
  close(approvalId: string): Shown | undefined {
    const kept = this.#get(approvalId);
    this.#set(approvalId, { clicks: {}, ...kept, isOver: true });
    return kept?.shown;
  }

  /**
   * Undefined for a click that counts; no other one of the same person does then, unless it is released or
   * has not been noted after some minutes. One of which nothing is kept counts for what its button says.
   */
  claim({ approvalId, senderId, clickId }: ApprovalClick): ClickProblem | undefined {
    const { clock } = this.#deps;
    const kept = this.#get(approvalId);
    if (kept?.isOver) return "over";
    if (kept?.expiresAt !== undefined && kept.expiresAt <= clock.now()) return "expired";
    const atMs = clock.elapsed();
    for (const [old, claim] of this.#claims) {
      if (atMs - claim.atMs > CLAIM_MS) this.#claims.delete(old);
    }
    const clicks = kept?.clicks ?? {};
    const noted = Object.hasOwn(clicks, senderId) ? clicks[senderId] : undefined;
    const key = keyOf(approvalId, senderId);
    const first = noted ?? this.#claims.get(key)?.clickId ?? clickId;
    if (first !== clickId) return "repeated";
    if (noted === undefined) this.#claims.set(key, { clickId, atMs });
    return undefined;
  }

  /** A click is on record: no other one of the same person counts. */
  noteClick({ approvalId, senderId, clickId }: ApprovalClick): void {
    this.#claims.delete(keyOf(approvalId, senderId));
    const kept = this.#get(approvalId) ?? { clicks: {} };
    const isFull = Object.keys(kept.clicks).length >= MAX_CLICKED;
    if (isFull || Object.hasOwn(kept.clicks, senderId)) return;
    this.#set(approvalId, { ...kept, clicks: { ...kept.clicks, [senderId]: clickId } });
  }

  /** A click could not be passed on, and may be made again. */
  release({ approvalId, senderId }: ApprovalClick): void {
    this.#claims.delete(keyOf(approvalId, senderId));
  }

  #get(approvalId: string): Kept<Shown> | undefined {
    return this.#deps.memory.get<Kept<Shown>>(KIND, approvalId);
  }

  #set(approvalId: string, kept: Kept<Shown>): void {
    this.#deps.memory.set(KIND, approvalId, kept);
  }
}

function keyOf(approvalId: string, senderId: string): string {
  return `${approvalId} ${senderId}`;
}

/** What is published for a click: the command that answers. `digest`: its first 8 digits, or all. */
export function approvalCommand(
  { isApproved, id, digest }: { isApproved: boolean; id: string; digest: string },
): string {
  return isApproved ? `/approve ${id} ${digest.slice(0, 8)}` : `/deny ${id}`;
}
