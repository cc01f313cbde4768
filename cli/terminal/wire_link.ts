/**
 * A gateway over its WebSocket port. A lost connection comes back by itself, and goes on where it was.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { isOwn } from "../../lib/contract/text_part.ts";
import type { ServerFrame } from "../../lib/contract/wire/frames.ts";
import { readFrame } from "../../lib/contract/wire/frames.ts";
import { WireClient, type WireClientDeps } from "../../lib/contract/wire/wire_client.ts";
import type { AskedPart, Happening, SaidMessage } from "../../lib/local/protocol.ts";
import { frameEvent } from "../chat/frame_event.ts";
import { Heard } from "../chat/heard.ts";
import { refusal } from "../chat/wire_turns.ts";
import type { WireAccess } from "../chat/wire_access.ts";
import { operateOverHttp } from "../operator/operate_over_http.ts";
import type { Ask } from "../operator/operate_with.ts";
import type { ChatApprover } from "./chat_approvals.ts";
import { type ChatLink, lastMessages, type Outcome, type PastMessage } from "./chat_link.ts";

/** What a link works with. */
export interface WireLinkDeps extends Pick<WireClientDeps, "url" | "clientId"> {
  /** Asked for before each handshake, and when its token for the routes has expired. */
  access(): Promise<WireAccess>;
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
  readonly #openAccess: () => Promise<WireAccess>;
  readonly #ask: Ask;
  readonly #followed = new Map<string, Followed>();
  readonly #ended = Promise.withResolvers<unknown>();
  /** Turns of messages that were sent here. */
  readonly #own = new Set<string>();
  #access: WireAccess = {};
  #failure: unknown;

  constructor(deps: WireLinkDeps) {
    const { url, clientId, access, fetch, onStatus } = deps;
    this.#openAccess = async () => this.#access = await access();
    this.#ask = operateOverHttp({
      url,
      fetch,
      token: async (isRefused) => {
        const { apiToken } = isRefused ? await this.#openAccess() : this.#access;
        if (apiToken !== undefined) return apiToken;
        throw new ServiceError("invalid_token", "There is no token for that");
      },
    });
    this.#client = new WireClient({
      url,
      clientId,
      token: async () => (await this.#openAccess()).token,
      readFrame,
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
        const { turnId, event } = next.stored;
        if (event.type === "turn_start" && !this.#own.has(turnId)) {
          next.said = await this.#saidIn(chatId, turnId);
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
    stop.throwIfAborted();
    stop.addEventListener("abort", () => this.#client.cancel(chatId), { once: true });
    const outcome = await this.#client
      .send(chatId, text, { media: media.length === 0 ? undefined : media, signal: stop })
      .catch(rethrow);
    if ("turnId" in outcome) this.#own.add(outcome.turnId);
    return outcome;
  }

  async history(chatId: string, limit: number): Promise<PastMessage[]> {
    return await lastMessages(this.#ask, `websocket:${chatId}`, limit).catch(() => []);
  }

  async sessions(): Promise<string[]> {
    const { sessions } = await this.#ask({ op: "sessions.list" });
    return sessions.flatMap(({ chat_id: id }) => id === undefined ? [] : [id]);
  }

  /** The default model and the presets. */
  async models(): Promise<{ model: string; presets: string[] }> {
    const { model_name: model, presets } = await this.#ask({ op: "models.list" });
    return { model, presets };
  }

  /** Answers approvals by the token's right; undefined where there is none. */
  get approver(): ChatApprover | undefined {
    if (this.#access.apiToken === undefined) return undefined;
    return { isOwnTurnsOnly: false, operate: this.#ask };
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
