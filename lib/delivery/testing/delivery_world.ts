/**
 * Deliveries over a journal, on a clock that tests move by hand.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { type AgentEvent, NO_USAGE, type TurnStatus } from "../../contract/events.ts";
import { type FakeClock, fakeClock } from "../../agent/testing/fake_clock.ts";
import type { ErrorData } from "../../base/errors.ts";
import { openJournal } from "../../journal/open.ts";
import type { Journal, OutboxMessage, TurnDelivery } from "../../contract/journal.ts";
import { createDeliveries } from "../create_deliveries.ts";
import type { Deliveries } from "../../channel/deliveries.ts";
import type { DeliverySpec } from "../attachment.ts";
import { FakeLink } from "./fake_link.ts";

/** What a test may set. */
export interface DeliveryWorldOptions {
  /** The journal's file; in memory unless told. */
  path?: string;
  /** One that is open already, instead. */
  journal?: Journal;
  callTimeoutMs?: number;
  clock?: FakeClock;
}

/** A spec as a test needs it. */
export function deliverySpec(changes: Partial<DeliverySpec> = {}): DeliverySpec {
  return {
    capabilities: ["reasoning"],
    flags: { sendProgress: true, sendToolHints: true, showReasoning: true },
    sendMaxRetries: 3,
    ...changes,
  };
}

export class DeliveryWorld {
  readonly journal: Journal;
  readonly clock: FakeClock;
  readonly deliveries: Deliveries;
  readonly errors: string[] = [];
  #ids = 0;

  constructor(
    { path = ":memory:", journal, callTimeoutMs, clock }: DeliveryWorldOptions = {},
  ) {
    this.clock = clock ?? fakeClock();
    this.journal = journal ?? openJournal({ path, now: () => this.clock.now() });
    this.deliveries = createDeliveries({
      journal: this.journal,
      clock: this.clock,
      callTimeoutMs,
      log: {
        debug: () => {},
        info: () => {},
        warning: () => {},
        error: (message, fields) => void this.errors.push(`${message}: ${fields?.["reason"]}`),
      },
    });
  }

  /** A link that is attached. */
  attach(
    runtimeName = "irc",
    options: { supportsStreaming?: boolean; spec?: Partial<DeliverySpec> } = {},
  ): { link: FakeLink; detach: () => Promise<void> } {
    const link = new FakeLink(runtimeName, options);
    return { link, detach: this.deliveries.attach(link, deliverySpec(options.spec)) };
  }

  /** Puts messages into the outbox, each under an id of its own. */
  async enqueue(
    texts: readonly string[],
    { channel = "irc", chatId = "#a", ...rest }: Partial<OutboxMessage> = {},
  ): Promise<void> {
    await Promise.all(
      texts.map((content) =>
        this.journal.enqueue({ id: `m${++this.#ids}`, channel, chatId, content, ...rest })
      ),
    );
    this.deliveries.wake(channel, chatId);
  }

  /** Accepts a turn whose answer goes to a chat, starts it, and follows it. */
  async begin(
    turnId: string,
    { sessionKey = "irc:a", ...delivery }: Partial<TurnDelivery> & { sessionKey?: string } = {},
  ): Promise<void> {
    await this.journal.accept({
      id: turnId,
      sessionKey,
      channel: "irc",
      actor: "irc:someone",
      input: [{ type: "text", text: "hello" }],
      durable: true,
    }, {
      delivery: {
        runtimeName: "irc",
        chatId: "#a",
        metadata: { message_id: "7" },
        streaming: false,
        ...delivery,
      },
    });
    this.deliveries.follow(turnId);
    await this.journal.start(turnId);
    await this.journal.append(turnId, [{ type: "turn_start", model: "test/model" }]);
  }

  async say(turnId: string, ...events: AgentEvent[]): Promise<void> {
    await this.journal.append(turnId, events);
  }

  async end(turnId: string, status: TurnStatus = "done", error?: ErrorData): Promise<void> {
    await this.journal.end(turnId, {
      event: { type: "turn_end", status, finishReason: "stop", usage: NO_USAGE },
      error,
      forget: false,
    });
  }

  /** How each message of the outbox is. */
  get rows(): string[] {
    return this.journal.outbox(0, 10_000).map(({ state, content }) => `${state} ${content}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.deliveries.stop(0);
    this.clock.tick(1);
    await stopped;
    await this.journal.close();
  }
}

/** Pieces of text and the end of their segment. */
export function segment(
  streamId: string,
  texts: readonly string[],
  resuming = false,
): AgentEvent[] {
  return [
    ...texts.map((text): AgentEvent => ({ type: "text_delta", streamId, text })),
    { type: "segment_end", streamId, resuming },
  ];
}

/** Lets everybody do what they can do without time going by. */
export async function settled(turns = 40): Promise<void> {
  for (let at = 0; at < turns; at++) await new Promise((resolve) => setImmediate(resolve));
}
