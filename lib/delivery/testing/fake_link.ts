/**
 * A runtime's link in memory: tests say what becomes of each call and read what has arrived.
 *
 * @module
 */

import type { ChannelLink } from "../../channel/channel_link.ts";
import type {
  OutboundMessage,
  ReasoningDelta,
  StreamDelta,
} from "../../contract/outbound_message.ts";

/** A call that was made. */
export type FakeCall =
  | { member: "send"; chatId: string; message: OutboundMessage }
  | { member: "sendDelta"; chatId: string; piece: StreamDelta }
  | { member: "sendReasoning"; chatId: string; message: OutboundMessage }
  | { member: "sendReasoningDelta"; chatId: string; piece: ReasoningDelta }
  | { member: "sendReasoningEnd"; chatId: string; end: Omit<ReasoningDelta, "delta"> };

export class FakeLink implements ChannelLink {
  readonly runtimeName: string;
  supportsStreaming = false;
  isRunning = true;
  /** Every call, whatever became of it. */
  readonly calls: FakeCall[] = [];
  /** Those that arrived. */
  readonly arrived: FakeCall[] = [];
  /** What becomes of a call; by default it arrives at once. */
  answer: (call: FakeCall) => Promise<void> | void = () => {};
  /** Calls under way, and the most there were at once. */
  underWay = 0;
  mostUnderWay = 0;

  constructor(runtimeName: string, options: { supportsStreaming?: boolean } = {}) {
    this.runtimeName = runtimeName;
    this.supportsStreaming = options.supportsStreaming ?? false;
  }

  send(message: OutboundMessage): Promise<void> {
    return this.#take({ member: "send", chatId: message.chatId, message });
  }

  sendDelta(piece: StreamDelta): Promise<void> {
    return this.#take({ member: "sendDelta", chatId: piece.chatId, piece });
  }

  sendReasoning(message: OutboundMessage): Promise<void> {
    return this.#take({ member: "sendReasoning", chatId: message.chatId, message });
  }

  sendReasoningDelta(piece: ReasoningDelta): Promise<void> {
    return this.#take({ member: "sendReasoningDelta", chatId: piece.chatId, piece });
  }

  sendReasoningEnd(end: Omit<ReasoningDelta, "delta">): Promise<void> {
    return this.#take({ member: "sendReasoningEnd", chatId: end.chatId, end });
  }

  /** Texts of the messages that arrived, in their order; those without a text left out. */
  texts(chatId?: string): string[] {
    return this.arrived.flatMap((call) =>
      call.member === "send" && (chatId ?? call.chatId) === call.chatId &&
        call.message.content !== ""
        ? [call.message.content]
        : []
    );
  }

  /** What arrived, each as a line. */
  get lines(): string[] {
    return this.arrived.map(lineOf);
  }

  async #take(call: FakeCall): Promise<void> {
    this.calls.push(call);
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
    try {
      await this.answer(call);
      this.arrived.push(call);
    } finally {
      this.underWay--;
    }
  }
}

/** A call as a line: `send answer`, `tool_hint read`, `s1 text`, `s1 text| resuming`. */
export function lineOf(call: FakeCall): string {
  switch (call.member) {
    case "send": {
      const { event, content } = call.message;
      const kind = event === undefined
        ? "send"
        : event.type === "progress" && event.toolHint
        ? "tool_hint"
        : event.type;
      return event?.type === "turn_end" ? `turn_end ${event.status}` : `${kind} ${content}`;
    }
    case "sendDelta": {
      const { streamId, delta, streamEnd, resuming } = call.piece;
      return `${streamId} ${delta}${streamEnd ? "|" : ""}${resuming ? " resuming" : ""}`;
    }
    case "sendReasoning":
      return `thought ${call.message.content}`;
    case "sendReasoningDelta":
      return `think ${call.piece.delta}`;
    case "sendReasoningEnd":
      return "think|";
  }
}
