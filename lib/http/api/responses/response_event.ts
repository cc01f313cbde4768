/**
 * The events of a response's stream, as they are sent.
 *
 * @module
 */

import type { OutputItem, OutputText, ResponseObject, SummaryText } from "./response_object.ts";

/** Where in the response an event belongs. */
interface ItemPlace {
  item_id: string;
  /** From 0, in the order in which items begin. */
  output_index: number;
}

/** Where in a message; there is one part. */
interface ContentPlace extends ItemPlace {
  content_index: 0;
}

/** Where in a reasoning item; there is one part. */
interface SummaryPlace extends ItemPlace {
  summary_index: 0;
}

/** What an event says. */
export type ResponseEventBody =
  | { type: "response.created" | "response.in_progress"; response: ResponseObject }
  | {
    type: "response.output_item.added" | "response.output_item.done";
    output_index: number;
    item: OutputItem;
  }
  | ContentPlace & {
    type: "response.content_part.added" | "response.content_part.done";
    part: OutputText;
  }
  | ContentPlace & { type: "response.output_text.delta"; delta: string; logprobs: [] }
  | ContentPlace & { type: "response.output_text.done"; text: string; logprobs: [] }
  | SummaryPlace & {
    type: "response.reasoning_summary_part.added" | "response.reasoning_summary_part.done";
    part: SummaryText;
  }
  | SummaryPlace & { type: "response.reasoning_summary_text.delta"; delta: string }
  | SummaryPlace & { type: "response.reasoning_summary_text.done"; text: string }
  /** The last event. `response.failed` has a response that failed or was cancelled. */
  | {
    type: "response.completed" | "response.incomplete" | "response.failed";
    response: ResponseObject;
  };

/** An event. `sequence_number` counts from 0, without a gap. */
export type ResponseEvent = ResponseEventBody & { sequence_number: number };

/** What JSON leaves as it is and an event stream too, but where some clients' readers break lines. */
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/** The event as lines of an event stream, blank line included. */
export function eventLines(event: ResponseEvent): string {
  const data = JSON.stringify(event).replace(
    LINE_BREAKS,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `event: ${event.type}\ndata: ${data}\n\n`;
}
