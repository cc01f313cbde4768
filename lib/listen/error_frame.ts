/**
 * An error as a frame: the slug and the text that HTTP gives it too. Text of an error that nobody
 * expected stays inside.
 *
 * @module
 */

import type { ErrorData } from "../base/errors.ts";
import { toHttpError } from "./errors.ts";
import type { Frame } from "../contract/wire/frames.ts";

/** What the frame names beside the error. */
export type ErrorPlace = Omit<Frame<"error">, "event" | "detail" | "code">;

/** What the text depends on. */
export interface ErrorTold {
  /** Name under which the log has what is not told. */
  logId?: string;
  /** It ends a turn. */
  ofTurn?: boolean;
}

/** The frame of an error, which may be anything that was thrown. */
export function errorFrame(
  error: unknown | ErrorData,
  place: ErrorPlace = {},
  { logId, ofTurn }: ErrorTold = {},
): Frame<"error"> {
  const { envelope } = toHttpError(error, { logId, accepted: ofTurn });
  return { event: "error", detail: envelope.error.message, code: envelope.error.code, ...place };
}

/** Whether the text of an error stays inside, so that it has to be logged. */
export function isHidden(error: unknown): boolean {
  return toHttpError(error).hidden !== undefined;
}
