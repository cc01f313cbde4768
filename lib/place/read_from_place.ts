/**
 * What a place says, checked like anything that comes from outside: a copy that holds what it should and
 * no more, or why it is nothing that a place says.
 *
 * @module
 */

import { MAX_FAULT_CHARS } from "./place_fault.ts";
import { MAX_FIELDS_CHARS, MAX_LINE_CHARS } from "./place_log.ts";
import { MAX_DETAIL_CHARS } from "./place_state.ts";
import { plainJson } from "../channel/plain_json.ts";
import type { FromPlace, PlaceFault } from "./protocol.ts";

/** Characters of what a call came to, as JSON. */
const MAX_RESULT_CHARS = 256 * 1024;
/** Characters that a cut text may have had; a longer one was not cut, and so is none of ours. */
const MAX_UNCUT_CHARS = 4_096;

/** As said, but for `message` of a publication, which is checked by itself; or what is wrong. */
export type ReadFromPlace =
  | Exclude<FromPlace, { type: "publish" }>
  | { type: "publish"; id: number; message: unknown }
  | { type: "wrong"; problem: string };

/** See the module. */
export function readFromPlace(data: unknown): ReadFromPlace {
  if (typeof data !== "object" || data === null) return wrong("something that is no message");
  const { type, id, message, fault, result, path, level, detail, isRunning, supportsStreaming } =
    data as Record<string, unknown>;
  switch (type) {
    case "ready":
      if (typeof supportsStreaming !== "boolean") break;
      return { type, supportsStreaming };
    case "unusable":
      if (!isText(message)) break;
      return { type, message: message.slice(0, MAX_FAULT_CHARS) };
    case "answer": {
      if (!isId(id)) break;
      if (fault !== undefined) {
        const read = readFault(fault);
        if (read === undefined) break;
        return { type, id, fault: read };
      }
      if (result === undefined) return { type, id };
      const copy = plainJson(result, MAX_RESULT_CHARS);
      if (copy === undefined) return wrong("an answer that is no plain data, or too much");
      return { type, id, result: copy };
    }
    case "publish":
      if (!isId(id)) break;
      return { type, id, message };
    case "transcribe":
      if (!isId(id) || !isText(path)) break;
      return { type, id, path };
    case "running":
      if (typeof isRunning !== "boolean") break;
      return { type, isRunning };
    case "detail":
      if (!isText(detail)) break;
      return { type, detail: detail.slice(0, MAX_DETAIL_CHARS) };
    case "log": {
      if (!isText(message) || !isLevel(level)) break;
      const { data: fields } = data as { data?: unknown };
      const copy = plainJson(fields ?? {}, 2 * MAX_FIELDS_CHARS);
      if (typeof copy !== "object" || copy === null) break;
      return { type, level, message: message.slice(0, MAX_LINE_CHARS), data: copy };
    }
  }
  return wrong(
    typeof type === "string"
      ? `a message of the kind ${JSON.stringify(type.slice(0, 40))} that is malformed or unknown`
      : "a message without a kind",
  );
}

function readFault(value: unknown): PlaceFault | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, message, retryAfterMs } = value as Record<string, unknown>;
  if (!isFaultKind(kind) || !isText(message)) return undefined;
  return {
    kind,
    message: message.slice(0, MAX_FAULT_CHARS),
    ...typeof retryAfterMs === "number" && { retryAfterMs },
  };
}

function wrong(what: string): { type: "wrong"; problem: string } {
  return { type: "wrong", problem: `it said ${what}` };
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && value as number > 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_UNCUT_CHARS;
}

function isFaultKind(value: unknown): value is PlaceFault["kind"] {
  return value === "temporary" || value === "permanent" || value === "later" ||
    value === "uncertain" || value === "login_refused";
}

function isLevel(value: unknown): value is "debug" | "info" | "warning" | "error" {
  return value === "debug" || value === "info" || value === "warning" || value === "error";
}
