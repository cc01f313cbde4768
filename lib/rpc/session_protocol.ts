/**
 * What the authority and a child that lives on say to each other, in the frames of `protocol.ts`.
 *
 * The authority sends one {@linkcode SessionStart}; the child answers `ready`, or `unable` with the
 * reason and exits. From then on both sides ask and answer by numbers of their own. When the child's
 * standard input ends, it exits.
 *
 * @module
 */

/** Version of the protocol; a child refuses another. */
export const SESSION_VERSION = 1;

/** Requests that each side may have under way with the other. */
export const MAX_UNDER_WAY = 64;

/** Characters of an error's words, of a method and of a notice's name; more is cut, or refused. */
export const MAX_ERROR_CHARS = 8_000;
export const MAX_NAME_CHARS = 200;

/** What a child is started with. */
export interface SessionStart {
  v: typeof SESSION_VERSION;
  params: unknown;
}

/** Said once, before anything else. */
export type StartFrame = { type: "ready" } | { type: "unable"; message: string };

/** Both ways, but for progress and notices, which only a child sends. */
export type SessionFrame =
  | { type: "request"; id: number; method: string; params?: unknown }
  /** Whoever asked does not wait any more; an answer is ignored. */
  | { type: "cancel"; id: number }
  | { type: "answer"; id: number; result?: unknown }
  | { type: "error"; id: number; message: string }
  | { type: "progress"; id: number; text: string }
  | { type: "notice"; name: string; data?: unknown };

/** A frame as it was said, or undefined when it is none: what comes from a child is input. */
export function readSessionFrame(value: unknown): SessionFrame | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const frame = value as Record<string, unknown>;
  if (frame.type === "notice") return isName(frame.name) ? frame as SessionFrame : undefined;
  if (!Number.isSafeInteger(frame.id) || (frame.id as number) < 1) return undefined;
  switch (frame.type) {
    case "request":
      return isName(frame.method) ? frame as SessionFrame : undefined;
    case "error":
      return typeof frame.message === "string" ? frame as SessionFrame : undefined;
    case "progress":
      return typeof frame.text === "string" ? frame as SessionFrame : undefined;
    case "answer":
    case "cancel":
      return frame as SessionFrame;
    default:
      return undefined;
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_NAME_CHARS;
}
