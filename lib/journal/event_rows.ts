import type { AgentEvent, StoredEvent } from "../contract/events.ts";

/** An event that is a piece of a stream. */
export type DeltaEvent = Extract<AgentEvent, { type: "text_delta" | "reasoning_delta" }>;

/** An event as it is written. */
export interface EncodedEvent {
  event: AgentEvent;
  /** JSON of the stream's id for deltas, else null. */
  stream: string | null;
  /** The whole event as JSON; of a delta its text as a JSON string. */
  body: string;
}

/** A row of the table `events`, the turn by its id: seq, seq_from, turn id, type, stream, body. */
export type EventRow = [
  seq: number,
  seqFrom: number,
  turnId: string,
  type: string,
  stream: string | null,
  body: string,
];

/** Whether events of this type are merged into rows of several. */
export function isDelta(event: AgentEvent): event is DeltaEvent {
  return event.type === "text_delta" || event.type === "reasoning_delta";
}

/**
 * The event as it is written. All text goes through JSON, because SQLite keeps UTF-8: a surrogate
 * whose other half is in the next delta, or a NUL, would not come back.
 */
export function encodeEvent(event: AgentEvent): EncodedEvent {
  return isDelta(event)
    ? { event, stream: JSON.stringify(event.streamId), body: JSON.stringify(event.text) }
    : { event, stream: null, body: JSON.stringify(event) };
}

/** Bodies of deltas as the body of one row. */
export function joinBodies(bodies: readonly string[]): string {
  return bodies.join(",");
}

/**
 * The events of a row whose seq is higher than `afterSeq`, each as it was appended. Throws when the
 * row does not hold as many as its numbers say.
 */
export function decodeRow(row: EventRow, afterSeq: number): StoredEvent[] {
  const [seq, seqFrom, turnId, type, stream, body] = row;
  if (stream === null) return [{ seq, turnId, event: JSON.parse(body) }];
  const texts: string[] = JSON.parse(`[${body}]`);
  if (texts.length !== seq - seqFrom + 1) {
    throw new Error(`Cannot read events ${seqFrom} to ${seq}: the row holds ${texts.length} texts`);
  }
  const streamId: string = JSON.parse(stream);
  const events: StoredEvent[] = [];
  for (let at = Math.max(seqFrom, afterSeq + 1); at <= seq; at++) {
    const text = texts[at - seqFrom]!;
    events.push({ seq: at, turnId, event: { type: type as DeltaEvent["type"], streamId, text } });
  }
  return events;
}
