/**
 * What the authority and an executor child say to each other, over the child's standard input and
 * output: frames of a 4-byte big-endian length and that many bytes of UTF-8 JSON.
 *
 * The authority sends one {@linkcode ChildTask} and keeps the pipe open; a task that has a payload is
 * followed by one frame whose body is these bytes as they are. The child answers any number of
 * `progress` frames and then one `result`, `failure` or, for a fetch, `redirect`, and exits. When its
 * standard input ends, the child exits.
 * Data only: nothing in a frame is ever run.
 *
 * @module
 */

import type { Target } from "../contract/actions.ts";

/** Version of the protocol; a child refuses another. */
export const PROTOCOL_VERSION = 2;

/** Largest frame, bytes. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** Characters of one progress text. */
export const MAX_PROGRESS_CHARS = 4_000;

/** What a child is to do. */
export interface ChildTask {
  v: typeof PROTOCOL_VERSION;
  tool: string;
  args: unknown;
  /** What the configuration says beside the arguments; it may hold a key, and stands in no record. */
  settings?: unknown;
  /**
   * As the authority resolved and decided it; the child checks that it still is that. None for a child
   * that works on nothing but its payload.
   */
  target?: Target;
  /** Real path of the workspace. */
  workspace: string;
  /** Bytes of output that are kept. */
  maxOutputBytes: number;
  /** Bytes to work on. They travel beside the task, not in it (see {@linkcode TaskFrame}). */
  payload?: Uint8Array<ArrayBuffer>;
}

/** A task as its frame holds it. */
export interface TaskFrame extends Omit<ChildTask, "payload"> {
  /** The next frame is the payload. */
  hasPayload?: true;
}

/** What a child answers. */
export type ChildFrame =
  | { type: "progress"; text: string }
  | { type: "result"; output: string }
  | { type: "failure"; message: string }
  /** The fetch wants to go on elsewhere; the authority judges that anew. */
  | { type: "redirect"; url: string }
  /**
   * A page that was fetched: the authority has another child make a text of it, of its article alone where
   * one is wanted. `head` is what stands before it; an error page fails the call.
   */
  | {
    type: "page";
    head: string;
    html: string;
    url: string;
    wantsArticle: boolean;
    isError: boolean;
  }
  /** The bytes of a file, in base64. */
  | { type: "file"; data: string }
  /** Answer of the resolver child. */
  | { type: "addresses"; addresses: string[] };

/** The child side of a tool: `run` in `lib/tools/child/<name>.ts`. */
export interface ChildIo {
  task: ChildTask;
  progress(text: string): void;
}

/** Returns the last frame; throws an `Error` whose message is for the model. */
export type ChildRun = (io: ChildIo) => Promise<Exclude<ChildFrame, { type: "progress" }>>;
