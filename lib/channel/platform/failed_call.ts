/**
 * How a call of a platform's API has failed, as a delivery fails: what the platform says is read by a
 * table, so that a driver knows its codes and its words alone.
 *
 * @module
 */

import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../delivery_error.ts";

/**
 * - `login`: the platform does not know who we say we are
 * - `later`: it says when to come again
 * - `refused`: a repeat would be refused as well
 * - `failed`: it was not done, and a repeat may mend it
 * - `away`: nobody of the platform has had it
 * - `uncertain`: it may have been done, and nobody says so
 */
export type FailureKind = "login" | "later" | "refused" | "failed" | "away" | "uncertain";

/** What is known of a call that failed: the cause of its error. Holds no secret. */
export class FailedCall {
  /** Of HTTP; 0: there is no answer. */
  readonly status: number;
  /** The platform's own name or number of it; "": it says none. */
  readonly code: string;
  /** In the platform's words. */
  readonly said: string;
  /** What else the answer holds. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor({ status = 0, code = "", said = "", data = {} }: Partial<FailedCall>) {
    this.status = status;
    this.code = code;
    this.said = said;
    this.data = data;
  }
}

/** What a platform's answers mean. */
export interface FailureTable {
  /** Who answers, at the head of a sentence. */
  peer: string;
  /** By the platform's codes, and by statuses where they mean something else than they usually do. */
  kinds?: Readonly<Record<string, FailureKind>>;
  /** What any other answer of 500 and more means; default `uncertain`. */
  broken?: FailureKind;
  /** What a person has to do, or why it is so, where the platform's words do not say it: by the same. */
  advice?: Readonly<Record<string, string>>;
  /** The same by patterns of the code and the words; goes first. */
  reasons?: readonly (readonly [RegExp, string])[];
  /** Where the platform does not say how long to wait, milliseconds; default 5,000. */
  unsaidMs?: number;
}

/** What is known of a call, and what the table says otherwise. */
export interface CallFacts extends Partial<FailedCall> {
  /** What was asked for, as the object of a sentence; default `it`. */
  what?: string;
  kind?: FailureKind;
  advice?: string;
  /** How long to wait, milliseconds. */
  retryAfterMs?: number;
}

/** Answers of a proxy with nobody behind it; the last one has waited. */
const AWAY: readonly number[] = [502, 503, 504];

/** The answer that an error is about; undefined where there is none. */
export function failedCall(error: unknown): FailedCall | undefined {
  const { cause } = Object(error) as { cause?: unknown };
  return cause instanceof FailedCall ? cause : undefined;
}

/** The error of a call, with the call as its cause. */
export function callError(table: FailureTable, facts: CallFacts): Error {
  const call = new FailedCall(facts);
  const { peer, reasons, unsaidMs = 5_000 } = table;
  const { what = "it", kind = kindOf(call, table), retryAfterMs = unsaidMs } = facts;
  const answer = call.said || call.code || `status ${call.status}`;
  const why = facts.advice ??
    reasons?.find(([pattern]) => pattern.test(`${call.code} ${call.said}`))?.[1] ??
    entryOf(call, table.advice);
  const words = why === undefined ? answer : `${why} (${answer})`;
  const error = ((): Error => {
    switch (kind) {
      case "login":
        // A server may repeat there what it was given.
        return new LoginRefusedError(`${peer} refuses the login: ${why ?? answer}`);
      case "later":
        return new RetryLaterError(`${peer} takes ${what} again later: ${words}`, retryAfterMs);
      case "refused":
        return new PermanentDeliveryError(`${peer} refused ${what}: ${words}`);
      case "failed":
        return new Error(`${peer} has not done ${what}: ${words}`);
      case "away":
        return new NotConnectedError(`${peer} is away: ${words}`);
      case "uncertain":
        return new UncertainDeliveryError(`${peer} does not say what became of ${what}: ${words}`);
    }
  })();
  error.cause = call;
  return error;
}

/** An answer that cannot be used, or none: what was asked for may have been done. */
export function noAnswer(message: string, call: Partial<FailedCall> = {}): UncertainDeliveryError {
  return new UncertainDeliveryError(message, { cause: new FailedCall(call) });
}

/** How long the platform wants to be left alone, milliseconds; 0: it has not said that. */
export function pauseOf(error: unknown): number {
  return error instanceof RetryLaterError && !(error instanceof NotConnectedError)
    ? error.retryAfterMs
    : 0;
}

/** Why it failed, in words before which it is said that there is no connection. */
export function reasonOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words.replace(/^Not connected: /, "");
}

/** The same error of a call of which a second copy does no harm: nothing is uncertain about that. */
export function ofRepeatable(error: unknown): unknown {
  if (!(error instanceof UncertainDeliveryError)) return error;
  const { message, cause } = error;
  const call = failedCall(error);
  const isAway = call !== undefined && (call.status === 0 || AWAY.includes(call.status));
  const plain = isAway ? new NotConnectedError(message) : new Error(message);
  plain.cause = cause;
  return plain;
}

function kindOf(call: FailedCall, { kinds, broken = "uncertain" }: FailureTable): FailureKind {
  const { status } = call;
  const isBroken = status >= 500 && !AWAY.includes(status);
  return entryOf(call, kinds) ?? (isBroken ? broken : usualKind(status));
}

/** Of the code, or else of the status. */
function entryOf<T>(
  { code, status }: FailedCall,
  entries: Readonly<Record<string, T>> = {},
): T | undefined {
  const key = [code, String(status)].find((one) => Object.hasOwn(entries, one));
  return key === undefined ? undefined : entries[key];
}

function usualKind(status: number): FailureKind {
  switch (status) {
    case 401:
      return "login";
    case 429:
      return "later";
    case 408:
    case 425:
      return "failed";
    case 502:
    case 503:
      return "away";
  }
  return status >= 400 && status < 500 ? "refused" : "uncertain";
}
