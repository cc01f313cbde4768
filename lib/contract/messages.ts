/**
 * Messages as the journal keeps them and as a model is given them.
 *
 * @module
 */

import type { TextPart } from "./text_part.ts";

/** A file that came with a message. Its bytes stand in the media folder, under their hash. */
export interface FileRef {
  /** SHA-256 of the bytes, lower-case hex. */
  sha256: string;
  /** Its size. */
  bytes: number;
}

/** A file that goes out with a message. */
export interface OutFile {
  /** As those who get it see it: a name without a path. */
  name: string;
  /** On this machine; in the media folder named by its hash. */
  path: string;
}

/** A document that came with a message, with what the model is given of it. */
export interface DocumentPart {
  type: "document";
  /** As the sender named it; one line. */
  name: string;
  /** By its bytes, such as `application/pdf` or `text/plain`. */
  mediaType: string;
  file: FileRef;
  /** Its text, cuts stated. Not the person's own words. */
  text: string;
}

/** A piece of a user message as it is kept. */
export type UserPart =
  | { type: "text" } & TextPart
  | { type: "image"; mediaType: string; file: FileRef }
  /** As the first version kept it: base64 in the message itself. Never written any more. */
  | { type: "image"; mediaType: string; data: string }
  | DocumentPart;

/** A piece of a user message before it is accepted, its files not yet kept. */
export type InputPart =
  | { type: "text" } & TextPart
  | { type: "image"; mediaType: string; bytes: Uint8Array }
  | (Omit<DocumentPart, "file"> & { bytes: Uint8Array });

/** A piece of a user message as a model is given it, marked as data where it is. `data` is base64 without a data-URL head. */
export type PromptPart =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data: string };

/** A tool call as the model made it. `args` is the parsed JSON, or the raw text if it did not parse. */
export interface ToolCall {
  callId: string;
  tool: string;
  args: unknown;
}

/** A message of the model's context. */
export type Message =
  | { role: "user"; parts: UserPart[] }
  | {
    role: "assistant";
    text: string;
    reasoning?: string;
    calls: ToolCall[];
    /** Files that went out with it; no model is given them. */
    media?: readonly OutFile[];
    /** As the model's `finish` event gave it, kept verbatim and given back with the message. */
    replay?: unknown;
  }
  | {
    role: "tool";
    results: {
      callId: string;
      tool: string;
      output: string;
      failed: boolean;
      /** For people; no model is given it. */
      tookMs?: number;
    }[];
  }
  /** Stands for every message before it (compaction). */
  | { role: "summary"; text: string };

/** A message as a model is given it: its files are loaded. */
export type PromptMessage =
  | Exclude<Message, { role: "user" }>
  | { role: "user"; parts: PromptPart[] };
