/**
 * The Bot API, by grammY's client: one request a call, bounded in time and size, and never a word of the
 * token in what goes wrong.
 *
 * @module
 */

import { Api, type ApiClientOptions, GrammyError, HttpError } from "grammy/web";
import type { Clock } from "../../../lib/base/clock.ts";
import { neverSent, readBounded, withDeadline } from "../../../lib/channel/platform/mod.ts";
import { faultOfRefusal, TelegramFault } from "./telegram_fault.ts";

type Raw = Api["raw"];

/** Names of methods of the Bot API. */
export type TelegramMethod = keyof Raw & string;

/** Methods that take nothing; grammY's client has the signal in the first place of theirs. */
const WITHOUT_PARAMETERS = ["getMe", "getWebhookInfo"] as const;

/** What a method takes. */
export type TelegramParameters<M extends TelegramMethod> = M extends
  typeof WITHOUT_PARAMETERS[number] ? Record<never, never> : Parameters<Raw[M]>[0];

/** What it gives. */
export type TelegramResult<M extends TelegramMethod> = Awaited<ReturnType<Raw[M]>>;

/** What calls are made with. */
export interface TelegramApiDeps {
  token: string;
  /** `https://api.telegram.org`, or that of a server of one's own; without a slash at its end. */
  apiUrl: string;
  clock: Pick<Clock, "elapsed" | "after">;
  fetch: typeof fetch;
}

/** Bounds of one call. */
export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;

/** Bytes of an answer: a hundred updates, each with messages that they answer, are far below it. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Chats that are known to have had too much. */
const MAX_QUIET = 1_000;

export class TelegramApi {
  readonly #deps: TelegramApiDeps;
  readonly #raw: Raw;
  /** Until when a chat takes nothing, by its id; `elapsed` of the clock. */
  readonly #quiet = new Map<string, number>();

  constructor(deps: TelegramApiDeps) {
    this.#deps = deps;
    this.#raw = new Api(deps.token, {
      apiRoot: deps.apiUrl,
      // A redirect would be given the token.
      baseFetchConfig: { redirect: "error" },
      fetch: (input: string, init?: RequestInit) => this.#fetch(input, init),
    } as unknown as ApiClientOptions).raw;
  }

  /**
   * Calls a method, once. Rejects with a `TelegramFault`, or with the signal's reason. A chat that was
   * flooded is left alone until the time that Telegram has said is over: the call rejects without being
   * made.
   */
  async call<M extends TelegramMethod>(
    method: M,
    parameters: TelegramParameters<M>,
    { signal, timeoutMs = TIMEOUT_MS }: CallOptions = {},
  ): Promise<TelegramResult<M>> {
    signal?.throwIfAborted();
    const chat = (parameters as { chat_id?: unknown }).chat_id;
    this.#requireQuietOver(method, chat);
    const { clock } = this.#deps;
    const run = this.#raw[method] as (...args: unknown[]) => Promise<TelegramResult<M>>;
    return await withDeadline({ timeoutMs, signal, clock }, async (ending) => {
      try {
        return await (WITHOUT_PARAMETERS.some((name) => name === method)
          ? run(ending)
          : run(parameters, ending));
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const fault = ending.aborted
          ? new TelegramFault("cut_off", `Telegram did not answer ${method} in time`)
          : this.#faultOf(method, error);
        if (fault.kind === "flood") this.#keepQuiet(chat, fault.retryAfterMs);
        throw fault;
      }
    });
  }

  /**
   * A file that `getFile` has named. Rejects as `call` does; the body is the caller's to read, until the
   * signal ends it.
   */
  async download(filePath: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { apiUrl, token } = this.#deps;
    const path = filePath.split("/").map(encodeURIComponent).join("/");
    try {
      const response = await this.#deps.fetch(`${apiUrl}/file/bot${token}/${path}`, {
        signal,
        redirect: "error",
      });
      if (response.ok && response.body !== null) return response.body;
      await response.body?.cancel();
      // It is gone, or was never there.
      const isGone = response.status === 400 || response.status === 404;
      throw isGone
        ? new TelegramFault("rejected", "Telegram has no such file")
        : faultOfStatus("a file", response.status);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.#faultOf("a file", error);
    }
  }

  /** Takes the answer whole, so that one that is none of the Bot API's is told with its status. */
  async #fetch(input: string, init?: RequestInit): Promise<Response> {
    const response = await this.#deps.fetch(input, init);
    const text = await readText(response, init?.signal ?? undefined);
    const answer = parse(text);
    if (typeof answer?.ok === "boolean") return new Response(text);
    throw faultOfStatus("a request", response.status);
  }

  #requireQuietOver(method: string, chat: unknown): void {
    const leftMs = (this.#quiet.get(String(chat)) ?? 0) - this.#deps.clock.elapsed();
    if (chat === undefined || leftMs <= 0) return;
    throw new TelegramFault("flood", `Telegram wants no ${method} for this chat yet`, {
      retryAfterMs: leftMs,
    });
  }

  #keepQuiet(chat: unknown, ms: number): void {
    if (chat === undefined) return;
    const now = this.#deps.clock.elapsed();
    for (const [known, until] of this.#quiet) if (until <= now) this.#quiet.delete(known);
    this.#quiet.set(String(chat), now + ms);
    if (this.#quiet.size > MAX_QUIET) this.#quiet.delete(this.#quiet.keys().next().value!);
  }

  #withoutToken(text: string): string {
    const { token } = this.#deps;
    // Its colon may have been written as %3A; what follows that is the secret.
    const [, secret = ""] = token.split(":");
    const said = text.replaceAll(token, "***");
    return secret === "" ? said : said.replaceAll(secret, "***");
  }

  #faultOf(method: string, error: unknown): TelegramFault {
    if (error instanceof TelegramFault) return error;
    if (error instanceof GrammyError) {
      const { error_code, parameters } = error;
      // A proxy likes to repeat what it was asked for.
      const description = this.#withoutToken(String(error.description));
      return faultOfRefusal(method, { error_code, parameters, description });
    }
    const reason = error instanceof HttpError ? error.error : error;
    if (reason instanceof TelegramFault) return reason;
    const { cause = reason } = Object(reason) as Error;
    const words = cause instanceof Error ? cause.message : String(cause);
    // What stands before it names the address.
    const said = this.#withoutToken(words.replace(/^.*client error \(\w+\): /s, "")).slice(0, 300);
    // What was not written cannot have arrived.
    return neverSent(reason)
      ? new TelegramFault("unreachable", `Telegram cannot be reached: ${said}`)
      : new TelegramFault("cut_off", `Telegram was cut off: ${said}`);
  }
}

function faultOfStatus(what: string, status: number): TelegramFault {
  const said = `Telegram answered ${what} with the status ${status}`;
  // A proxy that gave up waiting says nothing of what became of it.
  if (status === 504 || status < 400) return new TelegramFault("cut_off", said);
  if (status === 502 || status === 503) return new TelegramFault("unreachable", said);
  if (status === 413) return new TelegramFault("rejected", `${said}: it is too large`);
  return new TelegramFault("server", said);
}

async function readText(response: Response, signal?: AbortSignal): Promise<string> {
  const bytes = await readBounded(response, MAX_ANSWER_BYTES, signal);
  if (bytes === undefined) throw new TelegramFault("server", "Telegram's answer is too long");
  return new TextDecoder().decode(bytes);
}

function parse(text: string): { ok?: unknown } | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
