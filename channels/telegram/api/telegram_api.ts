/**
 * The Bot API, by grammY's client: one request a call, bounded in time and size, and never a word of the
 * token in what goes wrong.
 *
 * @module
 */

import { Api, type ApiClientOptions, GrammyError, HttpError } from "grammy/web";
import type { Clock } from "../../../lib/base/clock.ts";
import {
  boundedFetch,
  bytesOf,
  callError,
  failedCall,
  noAnswer,
  pauseOf,
  Pauses,
} from "../../../lib/channel/platform/mod.ts";
import { TELEGRAM_FAULTS } from "./telegram_faults.ts";

type Raw = Api["raw"];

/** Names of methods of the Bot API. */
export type TelegramMethod = keyof Raw & string;

/** What a method takes. */
export type TelegramParameters<M extends TelegramMethod> = M extends "getMe" | "getWebhookInfo"
  ? Record<never, never>
  : Parameters<Raw[M]>[0];

/** What it gives. */
export type TelegramResult<M extends TelegramMethod> = Awaited<ReturnType<Raw[M]>>;

/** What calls are made with. */
export interface TelegramApiDeps {
  token: string;
  /** `https://api.telegram.org`, or that of a server of one's own; without a slash at its end. */
  apiUrl: string;
  clock: Pick<Clock, "elapsed" | "after">;
  /** Default: the runtime's. */
  fetch?: typeof fetch;
}

/** Bounds of one call. */
export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;
const FILE_TIMEOUT_MS = 120_000;

export class TelegramApi {
  readonly #deps: TelegramApiDeps;
  /** By chat. */
  readonly #pauses: Pauses;

  constructor(deps: TelegramApiDeps) {
    this.#deps = deps;
    this.#pauses = new Pauses(deps.clock);
  }

  /**
   * Calls a method, once. Rejects as `callError` has it, or with the signal's reason. A chat that was flooded
   * is left alone until the time that Telegram has said is over: the call rejects without being made.
   */
  async call<M extends TelegramMethod>(
    method: M,
    parameters: TelegramParameters<M>,
    { signal, timeoutMs = TIMEOUT_MS }: CallOptions = {},
  ): Promise<TelegramResult<M>> {
    signal?.throwIfAborted();
    const { token, apiUrl: apiRoot } = this.#deps;
    const { chat_id: chat = "" } = parameters as { chat_id?: string | number };
    const leftMs = this.#pauses.leftMs(String(chat));
    if (leftMs > 0) {
      const said = "it is flooded";
      throw callError(TELEGRAM_FAULTS, { what: method, status: 429, said, retryAfterMs: leftMs });
    }
    const { raw } = new Api(token, {
      apiRoot,
      fetch: (input: string, init?: RequestInit) => this.#fetch(input, init, { signal, timeoutMs }),
    } as unknown as ApiClientOptions);
    const run = raw[method] as (...args: unknown[]) => Promise<TelegramResult<M>>;
    try {
      // What takes no parameters has a signal in their place.
      return await (Object.keys(Object(parameters)).length === 0 ? run() : run(parameters));
    } catch (error) {
      signal?.throwIfAborted();
      const fault = error instanceof GrammyError
        ? this.#refused(method, error)
        : this.#unanswered(error instanceof HttpError ? error.error : error);
      const pauseMs = pauseOf(fault);
      if (chat !== "" && pauseMs > 0) this.#pauses.begin(String(chat), pauseMs);
      throw fault;
    }
  }

  /** A file that `getFile` has named; undefined for more bytes. Rejects as `call` does. */
  download(
    filePath: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { apiUrl, token } = this.#deps;
    const path = filePath.split("/").map(encodeURIComponent).join("/");
    const answer = boundedFetch(`${apiUrl}/file/bot${token}/${path}`, undefined, {
      ...{ ...this.#deps, peer: "Telegram" },
      ...{ timeoutMs: FILE_TIMEOUT_MS, maxBytes, signal },
    });
    return bytesOf(answer.then((answer) => {
      if (answer.ok) return answer;
      throw callError(TELEGRAM_FAULTS, { what: "a file", status: answer.status });
    }));
  }

  /** What is none of the Bot API's answers is told with its status. */
  async #fetch(
    input: string,
    init: RequestInit | undefined,
    options: { signal: AbortSignal | undefined; timeoutMs: number },
  ): Promise<Response> {
    const bounds = { ...this.#deps, ...options, peer: "Telegram" };
    const answer = await boundedFetch(input, init, bounds);
    const body = await answer.clone().json().catch(() => undefined);
    if (typeof body?.ok === "boolean") return answer;
    const { status } = answer;
    // Somebody who stands before it says nothing of what became of it.
    const kind = [413, 502, 503].includes(status) ? undefined : "uncertain";
    throw callError(TELEGRAM_FAULTS, { status, what: "a request", kind });
  }

  #refused(method: string, { error_code, description, parameters }: GrammyError): Error {
    // A proxy likes to repeat what it was asked for.
    const said = this.#withoutToken(String(description)).slice(0, 300);
    // A server that does not know a method says 404 too, with more words.
    const status = error_code === 404 && said === "Not Found" ? 401 : error_code;
    const seconds = Number(parameters.retry_after);
    const retryAfterMs = seconds > 0 ? seconds * 1_000 : undefined;
    return callError(TELEGRAM_FAULTS, {
      ...{ what: method, status, said, data: { ...parameters }, retryAfterMs },
    });
  }

  /** Such as for a file that could not be read to its end. */
  #unanswered(error: unknown): Error {
    if (failedCall(error) !== undefined) return error as Error;
    const words = error instanceof Error ? error.message : String(error);
    return noAnswer(`Telegram was cut off: ${this.#withoutToken(words).slice(0, 300)}`);
  }

  #withoutToken(text: string): string {
    const { token } = this.#deps;
    // Its colon may have been written as %3A; what follows that is the secret.
    const [, secret = ""] = token.split(":");
    const said = text.replaceAll(token, "***");
    return secret === "" ? said : said.replaceAll(secret, "***");
  }
}
