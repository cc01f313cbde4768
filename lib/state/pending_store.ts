/**
 * Which approvals wait, so that a restart can say that they are void.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { type ApprovalView, CAPABILITIES } from "../contract/actions.ts";
import { isDamaged } from "./damaged.ts";
import type { SealedFile } from "./sealed_file.ts";

/** An approval as it is kept: without what the action would write or send. */
export type PendingApproval = Omit<ApprovalView, "details" | "isWhole">;

/**
 * The approvals of a home that wait. A damaged file is set aside, with a record: what is in it could
 * release nothing.
 */
export interface PendingStore {
  /** Resolves when it is on the disk. */
  add(approval: PendingApproval): Promise<void>;
  /** Of one that was answered, has expired or is void; an unknown id changes nothing. */
  remove(id: string): Promise<void>;
  /**
   * Those that a process left which is gone; for the start, before the first `add`. They are void
   * now, and a record `approval.void` of each goes to the audit: the caller makes none.
   */
  takeAll(): Promise<PendingApproval[]>;
}

/** Approvals that may wait at once. */
const MAX_PENDING_APPROVALS = 1_000;

/** Characters of a target that are kept; the whole of it is in the record of the request. */
const MAX_TARGET_CHARS = 2_000;

const pendingSchema = z.array(z.strictObject({
  id: z.string(),
  digest: z.string(),
  capability: z.enum(CAPABILITIES),
  tool: z.string(),
  target: z.string(),
  session: z.string(),
  channel: z.string(),
  actor: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
}));

/** What the file of approvals holds. */
export const parsePending = (value: unknown): readonly PendingApproval[] =>
  pendingSchema.parse(value);

/** Keeps approvals in a file. */
export function createPendingStore(file: SealedFile<readonly PendingApproval[]>): PendingStore {
  // What waits is void after a start anyway, so nobody has to look at it; the key is everybody's.
  const mend = async () => {
    if (isDamaged(file.read())) await file.reset(undefined, { keepKey: true });
  };
  const update: typeof file.update = async (change) => {
    await mend();
    return await file.update(change);
  };
  return {
    async add(
      { id, digest, capability, tool, target, session, channel, actor, createdAt, expiresAt },
    ) {
      await update((all) => {
        if (all.some((each) => each.id === id)) return { result: undefined };
        if (all.length >= MAX_PENDING_APPROVALS) {
          throw new ServiceError("overloaded", `${MAX_PENDING_APPROVALS} approvals wait already`);
        }
        const kept = target.slice(0, MAX_TARGET_CHARS);
        const times = { createdAt, expiresAt };
        const added = {
          id,
          digest,
          capability,
          tool,
          target: kept,
          session,
          channel,
          actor,
          ...times,
        };
        return { value: [...all, added], result: undefined };
      });
    },
    async remove(id) {
      await update((all) => {
        const value = all.filter((each) => each.id !== id);
        return { value: value.length === all.length ? undefined : value, result: undefined };
      });
    },
    async takeAll() {
      await mend();
      // With a damaged key the start goes on; nothing that needs a person is allowed then.
      if (isDamaged(file.read())) return [];
      return await update((all) => {
        if (all.length === 0) return { result: [] };
        const records = all.map(({ id, digest, capability, target, session, actor }) => ({
          kind: "approval.void" as const,
          data: { id, digest, capability, target, session, actor, reason: "the service stopped" },
        }));
        return { value: [], records, result: [...all] };
      });
    },
  };
}
