/**
 * Errors of a runtime as they cross to the service.
 *
 * @module
 */

import {
  isLoginRefused,
  LoginRefusedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../channel/delivery_error.ts";
import { MAX_FAULT_CHARS, type WorkerFault } from "./protocol.ts";

/** Characters in which secrets are looked for. */
const MAX_SCRUBBED_CHARS = 64 * 1024;

// deno-lint-ignore no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/g;
/** Deno's advice is for whoever starts a program, and a worker is started by the manifest. */
const FLAG = /, run again with the --allow-[a-z]+ flag/g;
// deno-lint-ignore no-control-regex
const SPACES = /[\s\u0000-\u001f]+/g;

/** Longest wait that a platform is believed, milliseconds. */
const MAX_RETRY_MS = 24 * 60 * 60 * 1_000;

/**
 * A package may have its own copy of the errors, so that they are told by their names. `scrub` takes
 * secrets out.
 */
export function toWorkerFault(error: unknown, scrub?: (text: string) => string): WorkerFault {
  const message = messageOf(error, scrub);
  const { name, retryAfterMs } = (typeof error === "object" && error !== null ? error : {}) as {
    name?: unknown;
    retryAfterMs?: unknown;
  };
  if (name === "PermanentDeliveryError") return { kind: "permanent", message };
  if (isLoginRefused(error)) return { kind: "login_refused", message };
  if (name === "UncertainDeliveryError") return { kind: "uncertain", message };
  if (name === "RetryLaterError" && isWait(retryAfterMs)) {
    return { kind: "later", message, retryAfterMs: Math.min(retryAfterMs, MAX_RETRY_MS) };
  }
  return { kind: "temporary", message };
}

/** The opposite of {@linkcode toWorkerFault}. */
export function fromWorkerFault({ kind, message, retryAfterMs }: WorkerFault): Error {
  if (kind === "permanent") return new PermanentDeliveryError(message);
  if (kind === "login_refused") return new LoginRefusedError(message);
  if (kind === "uncertain") return new UncertainDeliveryError(message);
  if (kind === "later" && isWait(retryAfterMs)) {
    return new RetryLaterError(message, Math.min(retryAfterMs, MAX_RETRY_MS));
  }
  return new Error(message);
}

/** What an error says, on one line and cut; scrubbed before, as a cut may go through a secret. */
export function messageOf(error: unknown, scrub = (text: string) => text): string {
  let text: string;
  try {
    text = error instanceof Error ? error.message || error.name : String(error);
  } catch {
    // Whatever was thrown has no text.
    text = "it failed without words";
  }
  const plain = text.slice(0, MAX_SCRUBBED_CHARS)
    .replace(COLOURS, "")
    .replace(SPACES, " ")
    .replace(FLAG, ": the manifest's permissions do not name it")
    .trim();
  return scrub(plain).slice(0, MAX_FAULT_CHARS) || "it failed without words";
}

function isWait(ms: unknown): ms is number {
  return typeof ms === "number" && Number.isFinite(ms) && ms >= 0;
}
