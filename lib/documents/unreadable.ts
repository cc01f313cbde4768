/**
 * Why a document cannot be read, in words for the person who sent it.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** Characters of a file's name that an error repeats. */
const MAX_NAME_CHARS = 200;

/** `reason` goes on from "Cannot read it:", such as "it is encrypted". */
export function unreadable(reason: string, cause?: unknown): ServiceError {
  return new ServiceError("unreadable_document", reason, {}, { cause });
}

/** For bytes that are none of the formats; `what` they are instead. */
export function unsupported(what: string): ServiceError {
  return new ServiceError(
    "unsupported_media_type",
    `${what}; expected a PDF, .docx, .xlsx or .pptx file`,
  );
}

/** The error with the file's name before its reason. */
export function withName(error: ServiceError, name: string): ServiceError {
  const { code, message, details, cause } = error;
  const shown = name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;
  return new ServiceError(code, `Cannot read "${shown.toWellFormed()}": ${message}`, details, {
    cause,
  });
}

/** Reasons that stand in more than one place. */
export const REASONS = {
  corrupt: "it is corrupt or cut off",
  encrypted: "it is encrypted; expected a file that opens without a password",
  memory: "it takes more memory than one document may use",
} as const;
