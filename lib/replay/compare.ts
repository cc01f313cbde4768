/**
 * Whether two runs of a turn said the same.
 *
 * A matter of time and chance, and so never a difference: ids of streams, into how many pieces a text
 * fell, how long anything took, and the name that the log has for a failure.
 *
 * @module
 */

import { canonicalJson } from "../base/canonical_json.ts";
import type { AgentEvent } from "../contract/events.ts";

/** Where two runs part. */
export interface Difference {
  /** Counted from 1. */
  event: number;
  /** Of the recorded event; of the other where there is none. */
  type: AgentEvent["type"];
  /** Such as `args.path`; absent where one of the events is missing or of another kind. */
  field?: string;
  /** Absent: there is nothing. */
  recorded?: unknown;
  replayed?: unknown;
}

/** The events without what is a matter of time and chance. */
export function comparable(events: readonly AgentEvent[]): AgentEvent[] {
  const names = new Map<string, string>();
  const found: AgentEvent[] = [];
  for (const event of events) {
    const plain = withoutChance(event, names);
    const last = found.at(-1);
    if (isDelta(plain) && last?.type === plain.type && last.streamId === plain.streamId) {
      found[found.length - 1] = { ...plain, text: last.text + plain.text };
    } else found.push(plain);
  }
  return found;
}

/** Calls of tools among the events, and their results. */
export function callsIn(events: readonly AgentEvent[]): number {
  return events.filter(({ type }) => type === "tool_call" || type === "tool_result").length;
}

/** The first difference; undefined for none. Both are {@linkcode comparable}. */
export function firstDifference(
  recorded: readonly AgentEvent[],
  replayed: readonly AgentEvent[],
): Difference | undefined {
  for (let at = 0; at < Math.max(recorded.length, replayed.length); at++) {
    const [was, is] = [recorded[at], replayed[at]];
    if (equal(was, is)) continue;
    const { type } = (was ?? is)!;
    const found = was?.type === is?.type
      ? fieldOf(was, is)
      : { ...was && { recorded: was }, ...is && { replayed: is } };
    return { event: at + 1, type, ...found };
  }
}

function isDelta(
  event: AgentEvent,
): event is Extract<AgentEvent, { type: "text_delta" | "reasoning_delta" }> {
  return event.type === "text_delta" || event.type === "reasoning_delta";
}

function withoutChance(event: AgentEvent, names: Map<string, string>): AgentEvent {
  if ("streamId" in event) {
    const { streamId } = event;
    if (!names.has(streamId)) names.set(streamId, `${names.size + 1}`);
    return { ...event, streamId: names.get(streamId)! };
  }
  if (event.type === "error") {
    const { logId: _, ...error } = event.error;
    return { ...event, error };
  }
  if (!("tookMs" in event)) return event;
  const { tookMs: _, ...rest } = event;
  return rest;
}

/** Goes down to the field in which two values differ. */
function fieldOf(
  recorded: unknown,
  replayed: unknown,
  path: readonly string[] = [],
): Pick<Difference, "field" | "recorded" | "replayed"> {
  if (
    isObject(recorded) && isObject(replayed) && Array.isArray(recorded) === Array.isArray(replayed)
  ) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(replayed)]);
    const key = [...keys].find((key) => !equal(recorded[key], replayed[key]));
    if (key !== undefined) return fieldOf(recorded[key], replayed[key], [...path, key]);
  }
  return {
    field: path.join("."),
    ...recorded !== undefined && { recorded },
    ...replayed !== undefined && { replayed },
  };
}

function equal(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
