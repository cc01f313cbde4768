/**
 * Strangers who were given a code, with which an operator lets them write.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { newId } from "../base/new_id.ts";
import { isDamaged } from "./damaged.ts";
import type { SealedFile } from "./sealed_file.ts";

/** Who may be let in. */
export interface Stranger {
  channel: string;
  runtimeName: string;
  /** Absent for a channel that has one instance. */
  instanceId?: string;
  /** The platform's, which never changes. */
  senderId: string;
  /** As they call themselves. */
  senderName?: string;
}

/** One with a code. */
export interface Pairing extends Stranger {
  /** 8 letters and digits, 40 random bits; none that look alike. */
  code: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** Codes of a home. A damaged file is set aside, with a record: nobody is let in by it alone. */
export interface PairingStore {
  /** A code for a stranger; undefined for one who has one, and where too many wait at the instance. */
  ask(stranger: Stranger): Promise<Pairing | undefined>;
  /** Those that hold, oldest first. */
  list(): Pairing[];
  /**
   * Whose code it is, however it is typed. Throws `not_found`, and `overloaded` after too many wrong
   * ones.
   */
  find(typed: string): Promise<Pairing>;
  /** Of one who was let in. */
  remove(code: string): Promise<void>;
  /** The code no longer holds, and its stranger is given no other one for the rest of the hour. */
  dismiss(code: string): Promise<void>;
}

/** How long a code holds, and how long nobody is given another one. */
export const PAIRING_MS = 60 * 60_000;

const CODE_CHARS = 8;

/** Codes that may wait at one instance of a channel. */
const MAX_WAITING = 20;

/** Wrong codes within that time. */
const MAX_WRONG = 10;

const MAX_NAME_CHARS = 100;

const fileSchema = z.strictObject({
  waiting: z.array(z.strictObject({
    code: z.string(),
    channel: z.string(),
    runtimeName: z.string(),
    instanceId: z.string().optional(),
    senderId: z.string(),
    senderName: z.string().optional(),
    createdAt: z.number(),
    isDismissed: z.literal(true).optional(),
  })),
  /** When wrong codes were given. */
  wrong: z.array(z.number()),
});

/** What the file holds. */
export type StoredPairings = Readonly<z.infer<typeof fileSchema>>;

/** Of a file that was never written. */
export const NO_PAIRINGS: StoredPairings = { waiting: [], wrong: [] };

/** What the file of pairings holds. */
export const parsePairings = (value: unknown): StoredPairings => fileSchema.parse(value);

/** Keeps them in a file. */
export function createPairingStore(
  { file, now }: { file: SealedFile<StoredPairings>; now: () => number },
): PairingStore {
  const holding = (stored: StoredPairings): StoredPairings => {
    const since = now() - PAIRING_MS;
    return {
      waiting: stored.waiting.filter(({ createdAt }) => createdAt > since),
      wrong: stored.wrong.filter((at) => at > since),
    };
  };
  const update: typeof file.update = async (change) => {
    // The key is everybody's.
    if (isDamaged(file.read())) await file.reset(undefined, { keepKey: true });
    return await file.update((stored) => change(holding(stored)));
  };
  const read = () => {
    const state = file.read();
    return isDamaged(state) ? NO_PAIRINGS : holding(state.value);
  };
  const isOf = (one: Stranger) => (other: Stranger) =>
    other.runtimeName === one.runtimeName && other.senderId === one.senderId;

  return {
    async ask(stranger) {
      // Most strangers write more than once, and a look is cheap.
      if (read().waiting.some(isOf(stranger))) return undefined;
      return await update(({ waiting, wrong }) => {
        const here = waiting.filter(({ runtimeName }) => runtimeName === stranger.runtimeName);
        if (here.some(isOf(stranger)) || here.length >= MAX_WAITING) return { result: undefined };
        const { channel, runtimeName, instanceId, senderId, senderName } = stranger;
        const pairing: Pairing = {
          code: newId("").slice(0, CODE_CHARS),
          channel,
          runtimeName,
          ...instanceId !== undefined && { instanceId },
          senderId,
          ...senderName !== undefined &&
            { senderName: senderName.slice(0, MAX_NAME_CHARS).toWellFormed() },
          createdAt: now(),
        };
        return { value: { waiting: [...waiting, pairing], wrong }, result: pairing };
      });
    },
    list: () => read().waiting.filter(isOpen).map((each) => ({ ...each })),
    async find(typed) {
      const code = typed.toLowerCase().replace(/[\s-]/g, "");
      const found = await update<Pairing | ServiceError>(({ waiting, wrong }) => {
        if (wrong.length >= MAX_WRONG) return { result: tooManyWrong(wrong[0]! - now()) };
        const pairing = waiting.find((each) => isOpen(each) && each.code === code);
        if (pairing !== undefined) return { result: { ...pairing } };
        return { value: { waiting, wrong: [...wrong, now()] }, result: unknownCode() };
      });
      if (found instanceof ServiceError) throw found;
      return found;
    },
    async remove(code) {
      await update(({ waiting, wrong }) => ({
        value: { waiting: waiting.filter((each) => each.code !== code), wrong },
        result: undefined,
      }));
    },
    async dismiss(code) {
      await update(({ waiting, wrong }) => ({
        value: {
          waiting: waiting.map((each) =>
            each.code === code ? { ...each, isDismissed: true as const } : each
          ),
          wrong,
        },
        result: undefined,
      }));
    },
  };
}

function isOpen({ isDismissed }: StoredPairings["waiting"][number]): boolean {
  return isDismissed === undefined;
}

function unknownCode(): ServiceError {
  return new ServiceError(
    "not_found",
    "No such code: a code holds for an hour. Have them write to the bot again for a new one",
    { param: "code" },
  );
}

/** `sinceMs`: how far back the first of them is, negative. */
function tooManyWrong(sinceMs: number): ServiceError {
  return new ServiceError(
    "overloaded",
    `${MAX_WRONG} wrong codes were given within an hour; try again later`,
    { retryAfterS: Math.ceil((sinceMs + PAIRING_MS) / 1_000) },
  );
}
