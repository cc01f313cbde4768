/**
 * Messages as signed HTTP requests, in both directions.
 *
 * @module
 */

import { join } from "@std/path";
import { BaseChannel, type PackageConfig } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { PermanentDeliveryError, RetryLaterError } from "../../lib/channel/delivery_error.ts";
import { eventOf } from "../../lib/channel/outbound_event.ts";
import type {
  OutboundMessage,
  ReasoningDelta,
  StreamDelta,
} from "../../lib/contract/outbound_message.ts";
import { Mailbox } from "./protocol/mailbox.ts";
import { postSigned } from "./protocol/post_signed.ts";
import { readFiles } from "./protocol/read_files.ts";
import { Retries } from "./protocol/retries.ts";
import { Receiver, REQUEST_KEY } from "./protocol/receiver.ts";
import { readSecrets, Signer } from "./protocol/signature.ts";

/** The section, as the manifest describes it. */
export interface WebhookConfig extends PackageConfig {
  host: string;
  port: number;
  path: string;
  url: string;
  secret: string;
  previousSecret: string;
  events: boolean;
  timeoutS: number;
  waitS: number;
  maxPerMinute: number;
}

/** Streams whose place is known; one that is forgotten begins at 0 again. */
const MAX_STREAMS = 1_000;

/** How long an answer waits behind a start for who waits for it, and between looks, milliseconds. */
const RETURN_MS = 2 * 60 * 1_000;
const AGAIN_MS = 2_000;

export class WebhookChannel extends BaseChannel<WebhookConfig> {
  readonly #mailbox: Mailbox;
  readonly #retries: Retries;
  readonly #ending = new AbortController();
  readonly #stopped = Promise.withResolvers<void>();
  /** Characters that have arrived, by stream. */
  readonly #streams = new Map<string, number>();
  #signer: Promise<Signer> | undefined;
  #isRunning = false;
  #startedMs = -Infinity;
  #started: Promise<void> | undefined;

  constructor(config: WebhookConfig, host: ChannelHost) {
    super(config, host);
    this.#mailbox = new Mailbox(host.clock);
    this.#retries = new Retries(host.clock);
  }

  /** Rejects where the section has no secret, or one that is none. */
  #getSigner(): Promise<Signer> {
    this.#signer ??= Signer.from(readSecrets(this.config.secret, this.config.previousSecret));
    return this.#signer;
  }

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override start(): Promise<void> {
    this.#started ??= this.#run();
    return this.#started;
  }

  async #run(): Promise<void> {
    const { host, port, path, maxPerMinute, waitS } = this.config;
    this.#startedMs = this.host.clock.elapsed();
    const filesDir = join(this.host.stateDir, "files");
    // What a process left that was killed.
    await Deno.remove(filesDir, { recursive: true }).catch(() => {});
    const receiver = new Receiver({
      path,
      signer: await this.#getSigner(),
      maxPerMinute,
      waitMs: waitS * 1_000,
      filesDir,
      handle: (message) => this.handleMessage(message),
      onAccepted: ({ chatId, metadata = {} }) => this.#showTyping(chatId, metadata),
      mailbox: this.#mailbox,
      clock: this.host.clock,
      fs: Deno,
      randomId: () => crypto.randomUUID(),
    });
    if (this.#ending.signal.aborted) return;
    const listener = await this.host.listen(
      { host, port },
      (request) => receiver.answer(request),
    );
    this.#isRunning = !this.#ending.signal.aborted;
    this.host.setDetail(`listening at ${listener.url}${path}`);
    await this.#stopped.promise;
    this.#isRunning = false;
    await listener.close();
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#ending.abort(new Error("The channel ends"));
    this.#mailbox.close();
    this.#stopped.resolve();
    await this.#started?.catch(() => {});
  }

  override async send(message: OutboundMessage): Promise<void> {
    const event = eventOf(message);
    const { id, chatId, content, metadata } = message;
    this.#requireRunning();
    switch (event?.type) {
      case undefined:
        return await this.#sendAnswer(message);
      case "approval": {
        const { id, digest, expiresAt, denyOnly } = event;
        // For a person, so never left out.
        return await this.#sendAnswer(message, {
          approval: { id, digest, expires_at: expiresAt, ...denyOnly && { deny_only: true } },
        });
      }
      case "approval_resolved":
        return await this.#retries.send(
          id,
          () =>
            this.#sendEvent({ id, type: "approval_resolved", chatId, metadata }, {
              text: content,
              approval: { id: event.id, outcome: event.outcome },
            }),
        );
      case "turn_end": {
        const request = metadata[REQUEST_KEY];
        if (typeof request === "string") this.#mailbox.end(request, event.status);
        return await this.#sendEvent({ id, type: "turn_end", chatId, metadata }, {
          status: event.status,
        });
      }
      case "progress":
        if (content.trim() === "") return;
        return await this.#sendEvent({ id, type: "progress", chatId, metadata }, {
          text: content,
          tool_hint: event.toolHint,
        });
      case "goal_status":
        return await this.#sendEvent({ id, type: "goal_status", chatId, metadata }, {
          text: content,
        });
      case "reasoning_delta":
        return await this.sendReasoningDelta({
          chatId,
          delta: content,
          metadata,
          streamId: event.streamId,
        });
      case "reasoning_end":
        return await this.sendReasoningEnd({ chatId, metadata, streamId: event.streamId });
      case "stream_delta":
      case "stream_end":
        return await this.sendDelta({
          chatId,
          delta: content,
          metadata,
          streamId: event.streamId,
          streamEnd: event.type === "stream_end",
          resuming: event.type === "stream_end" && event.resuming,
        });
    }
  }

  override async sendDelta(piece: StreamDelta): Promise<void> {
    const { chatId, delta, metadata, streamEnd, resuming } = piece;
    this.#requireRunning();
    const streamId = piece.streamId ?? chatId;
    const offset = this.#streams.get(streamId) ?? 0;
    const request = metadata[REQUEST_KEY];
    if (this.config.url !== "") {
      // The place of a piece tells its receiver what it has already.
      const id = `${streamId}.${offset}.${delta.length}${streamEnd ? ".end" : ""}`;
      const body = {
        ...about({ type: "delta", id, chatId, metadata }, this.name),
        stream_id: streamId,
        offset,
        text: delta,
        end: streamEnd,
        resuming,
      };
      await this.#retries.send(`stream ${streamId}`, () => this.#post(id, body));
    }
    const isKept = typeof request === "string" && this.#mailbox.append(request, streamId, delta);
    if (!isKept) this.#requireUrl(metadata);
    this.#streams.delete(streamId);
    if (!streamEnd) this.#streams.set(streamId, offset + delta.length);
    if (this.#streams.size > MAX_STREAMS) this.#streams.delete(this.#streams.keys().next().value!);
  }

  override async sendReasoningDelta(
    { chatId, delta, metadata, streamId }: ReasoningDelta,
  ): Promise<void> {
    await this.#sendEvent(
      { id: crypto.randomUUID(), type: "reasoning_delta", chatId, metadata },
      { stream_id: streamId ?? chatId, text: delta },
    );
  }

  override async sendReasoningEnd(
    { chatId, metadata, streamId }: Omit<ReasoningDelta, "delta">,
  ): Promise<void> {
    await this.#sendEvent(
      { id: crypto.randomUUID(), type: "reasoning_end", chatId, metadata },
      { stream_id: streamId ?? chatId },
    );
  }

  async #sendAnswer(message: OutboundMessage, more: object = {}): Promise<void> {
    const { id, chatId, content, metadata } = message;
    if (content.trim() === "" && message.media.length === 0) return;
    const media = await readFiles(message.media);
    const request = metadata[REQUEST_KEY];
    // Who waits gets it as well: whether that arrives, nobody can say.
    const isKept = typeof request === "string" &&
      this.#mailbox.add(request, { id, text: content, media });
    if (!isKept) this.#requireUrl(metadata);
    if (this.config.url === "") return;
    const type = "approval" in more ? "approval" : "message";
    const body = {
      ...about({ type, id, chatId, metadata }, this.name),
      text: content,
      media,
      ...more,
    };
    await this.#retries.send(id, () => this.#post(id, body));
  }

  #requireRunning(): void {
    if (!this.#isRunning) throw new Error("The channel is not running");
  }

  /** Throws for an answer that has nowhere to go. */
  #requireUrl({ wait }: OutboundMessage["metadata"]): void {
    if (this.config.url !== "") return;
    // Whoever waited when the process before this one ended sends his request again.
    if (wait === true && this.host.clock.elapsed() - this.#startedMs < RETURN_MS) {
      throw new RetryLaterError("Whoever waits for it has not come back yet", AGAIN_MS);
    }
    throw new PermanentDeliveryError("url is not set, and nobody waits for this answer");
  }

  /** Of what only those want who asked for it. */
  async #sendEvent(head: EventHead, more: object): Promise<void> {
    if (!this.config.events || this.config.url === "") return;
    this.#requireRunning();
    await this.#post(head.id, { ...about(head, this.name), ...more });
  }

  /** Nobody waits for it, and it is not worth a second attempt. */
  #showTyping(chatId: string, metadata: OutboundMessage["metadata"]): void {
    this.#sendEvent({ id: crypto.randomUUID(), type: "typing", chatId, metadata }, {})
      .catch((error) => {
        if (this.#ending.signal.aborted) return;
        this.host.log.info("A typing signal was not sent", { reason: String(error) });
      });
  }

  async #post(id: string, body: object): Promise<void> {
    await postSigned({ id, body }, {
      url: this.config.url,
      signer: await this.#getSigner(),
      timeoutMs: this.config.timeoutS * 1_000,
      fetch,
      clock: this.host.clock,
      signal: this.#ending.signal,
    });
  }
}

interface EventHead {
  id: string;
  type: string;
  chatId: string;
  metadata: OutboundMessage["metadata"];
}

/** What every event has. */
function about({ id, type, chatId, metadata }: EventHead, channel: string): object {
  const replyTo = metadata.message_id ?? metadata[REQUEST_KEY];
  return {
    type,
    id,
    channel,
    chat_id: chatId,
    ...replyTo !== undefined && { reply_to: replyTo },
    ...metadata.data !== undefined && { metadata: metadata.data },
  };
}
