/**
 * One item of a response while it is being said: its events, from its beginning to its end.
 *
 * @module
 */

import type { ResponseEventBody } from "./response_event.ts";
import type { ItemStatus, OutputItem, OutputText, SummaryText } from "./response_object.ts";

/** An item that has begun. Each method gives the events of what it does, in their order. */
export interface OpenItem {
  begin(): ResponseEventBody[];
  say(text: string): ResponseEventBody;
  end(status: "completed" | "incomplete"): { item: OutputItem; events: ResponseEventBody[] };
}

/** A message with one part of text. */
export function openMessage(turnId: string, index: number): OpenItem {
  const id = `msg_${turnId}_${index}`;
  const place = { item_id: id, output_index: index, content_index: 0 } as const;
  const texts: string[] = [];
  const part = (): OutputText => {
    return { type: "output_text", text: texts.join(""), annotations: [], logprobs: [] };
  };
  const item = (status: ItemStatus, content: OutputText[]): OutputItem => {
    return { id, type: "message", status, role: "assistant", content };
  };
  return {
    begin: () => [
      { type: "response.output_item.added", output_index: index, item: item("in_progress", []) },
      { type: "response.content_part.added", ...place, part: part() },
    ],
    say(text) {
      texts.push(text);
      return { type: "response.output_text.delta", ...place, delta: text, logprobs: [] };
    },
    end(status) {
      const said = part();
      const whole = item(status, [said]);
      return {
        item: whole,
        events: [
          { type: "response.output_text.done", ...place, text: said.text, logprobs: [] },
          { type: "response.content_part.done", ...place, part: said },
          { type: "response.output_item.done", output_index: index, item: whole },
        ],
      };
    },
  };
}

/** A reasoning item. Its summary has one part, which holds the reasoning as the model gave it. */
export function openReasoning(turnId: string, index: number): OpenItem {
  const id = `rs_${turnId}_${index}`;
  const place = { item_id: id, output_index: index, summary_index: 0 } as const;
  const texts: string[] = [];
  const part = (): SummaryText => ({ type: "summary_text", text: texts.join("") });
  const item = (status: ItemStatus, summary: SummaryText[]): OutputItem => {
    return { id, type: "reasoning", status, summary };
  };
  return {
    begin: () => [
      { type: "response.output_item.added", output_index: index, item: item("in_progress", []) },
      { type: "response.reasoning_summary_part.added", ...place, part: part() },
    ],
    say(text) {
      texts.push(text);
      return { type: "response.reasoning_summary_text.delta", ...place, delta: text };
    },
    end(status) {
      const said = part();
      const whole = item(status, [said]);
      return {
        item: whole,
        events: [
          { type: "response.reasoning_summary_text.done", ...place, text: said.text },
          { type: "response.reasoning_summary_part.done", ...place, part: said },
          { type: "response.output_item.done", output_index: index, item: whole },
        ],
      };
    },
  };
}
