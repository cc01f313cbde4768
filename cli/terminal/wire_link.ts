/**
 * A gateway over its WebSocket port. A lost connection comes back by itself, and goes on where it was.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { isOwn } from "../../lib/contract/text_part.ts";
import type { ServerFrame } from "../../lib/contract/wire/frames.ts";
import { WireClient, type WireClientDeps } from "../../lib/contract/wire/wire_client.ts";
import type { AskedPart, Happening, SaidMessage } from "../../lib/local/protocol.ts";
import { frameEvent } from "../chat/frame_event.ts";
import { Heard } from "../chat/heard.ts";
import { type Ask } from "../operator/operate_with.ts";
import { operateOverHttp } from "../operator/operate_over_http.ts";
import { refusal } from "../chat/wire_turns.ts";
import type { ChatApprover } from "./chat_approvals.ts";
import { type ChatLink, lastMessages, type Outcome, type PastMessage } from "./chat_link.ts";

/** What a link works with. */
export interface WireLinkDeps extends Pick<WireClientDeps, "url" | "clientId" | "token"> {
  /** A token of `service tokens issue`, for routes that tell more than the socket does. */
  apiToken?: string;
  fetch: typeof fetch;
  /** The connection is lost, or there again. */
  onStatus(text: string): void;
}

/** A chat that is followed. */
interface Followed {
  queue: Happening[];
  wake: PromiseWithResolvers<void>;
  heard: Map<string, Heard>;
}

export class WireLink implements ChatLink {
  readonly #client: WireClient;
  readonly #ask: Ask | undefined;
  readonly #followed = new Map<string, Followed>();
  readonly #ended = Promise.withResolvers<unknown>();
  #failure: unknown;

  constructor(deps: WireLinkDeps) {
    const { url, clientId, token, apiToken, fetch, onStatus } = deps;
    this.#ask = apiToken === undefined
      ? undefined
      : operateOverHttp({ url, token: apiToken, fetch });
    this.#client = new WireClient({
      url,
      clientId,
      token,
      onFrame: (frame) => this.#take(frame),
      onReset: (chatId) => {
        for (const heard of this.#followed.get(chatId)?.heard.values() ?? []) heard.beginAnew();
      },
      onRefused: (_chatId, error) => this.#fail(error),
      onLost: (ms, error) => {
        // Another attempt would be refused alike.
        if (error instanceof ServiceError && error.code === "invalid_token") {
          return this.#fail(error);
        }
        const why = error instanceof Error ? error.message : String(error);
        onStatus(`Connection lost; trying again in ${Math.ceil(ms / 1000)} s (${why})`);
      },
      onBack: () => onStatus(""),
    });
  }

  get ended(): Promise<unknown> {
    return this.#ended.promise;
  }

  /** Why nothing more comes. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves with the connection's own chat. Rejects when the first attempt fails. */
  async connect(): Promise<string> {
    return (await this.#client.connect().catch(rethrow)).chat_id;
  }

  close(): void {
    this.#client.close();
    this.#ended.resolve(undefined);
  }

  async *follow(
    chatId: string,
    { signal, onReady }: Parameters<ChatLink["follow"]>[1],
  ): AsyncGenerator<Happening> {
    const followed: Followed = {
      queue: [],
      wake: Promise.withResolvers<void>(),
      heard: new Map(),
    };
    this.#followed.set(chatId, followed);
    await this.#client.attach(chatId).catch(rethrow);
    onReady();
    const left = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => left.resolve(), { once: true });
    while (!signal.aborted) {
      const next = followed.queue.shift();
      if (next === undefined) {
        await Promise.race([followed.wake.promise, left.promise]);
        followed.wake = Promise.withResolvers();
      } else {
        if (next.stored.event.type === "turn_start") {
          next.said = await this.#saidIn(chatId, next.stored.turnId);
        }
        yield next;
      }
    }
  }

  async say(chatId: string, input: AskedPart[], stop: AbortSignal): Promise<Outcome> {
    const text = input.flatMap((part) => part.type === "text" && isOwn(part) ? [part.text] : [])
      .join("\n\n");
    const media = input.flatMap((part) =>
      part.type === "file"
        ? [{ data_url: `data:application/octet-stream;base64,${part.data}`, name: part.name }]
        : []
    );
    const outcome = await this.#client.send(chatId, text, media.length === 0 ? undefined : media)
      .catch(rethrow);
    if ("turnId" in outcome) {
      const cancel = () => this.#client.cancel(chatId);
      if (stop.aborted) cancel();
      stop.addEventListener("abort", cancel, { once: true });
    }
    return outcome;
  }

  async history(chatId: string, limit: number): Promise<PastMessage[]> {
    if (this.#ask === undefined) return [];
    return await lastMessages(this.#ask, `websocket:${chatId}`, limit).catch(() => []);
  }

  sessions(): Promise<string[]> {
    return Promise.resolve([]);
  }

  /** Answers approvals by the token's right; undefined where there is none. */
  get approver(): ChatApprover | undefined {
    return this.#ask && { isOwnTurnsOnly: false, operate: this.#ask };
  }

  /** The message of a turn that another client asked for. */
  async #saidIn(chatId: string, turnId: string): Promise<SaidMessage> {
    const messages = await this.history(chatId, 5);
    const found = messages.find((each) => each.role === "user" && each.turnId === turnId);
    return { text: found?.text ?? "a message of another client", files: [], actor: "" };
  }

  #take(frame: ServerFrame): void {
    const chatId = "chat_id" in frame ? frame.chat_id : undefined;
    const followed = chatId === undefined ? undefined : this.#followed.get(chatId);
    if (followed === undefined) return;
    const stored = frameEvent(frame);
    if (stored !== undefined) {
      let heard = followed.heard.get(stored.turnId);
      if (heard === undefined) followed.heard.set(stored.turnId, heard = new Heard());
      const event = heard.hear(stored.event);
      if (event === undefined) return;
      followed.queue.push({ stored: { ...stored, event } });
    } else if (frame.event === "message" && frame.seq !== undefined) {
      const event = { type: "message" as const, text: frame.text };
      followed.queue.push({ stored: { seq: frame.seq, turnId: "", event } });
    } else return;
    followed.wake.resolve();
  }

  #fail(error: unknown): void {
    this.#failure ??= refusal(error);
    this.#client.close(error);
    this.#ended.resolve(error);
  }
}

function rethrow(error: unknown): never {
  throw refusal(error);
}
