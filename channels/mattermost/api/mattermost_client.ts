/**
 * The client of the server's API, within bounds: requests have an end and answers a size, a rate limit is
 * obeyed by all that asks, and an error says what the server said. The package's own reading of answers
 * knows no time-out and loses the headers that say when to come again.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { neverSent, readBounded, withDeadline } from "../../../lib/channel/platform/mod.ts";
import { ApiError } from "./api_error.ts";
import { Client4 } from "./mattermost_package.ts";

/** What a client is made of. */
export interface MattermostClientDeps {
  /** Without a slash at its end. */
  url: string;
  token: string;
  clock: Pick<Clock, "after" | "elapsed" | "now">;
  /** Whose certificates are trusted; absent: the usual. */
  httpClient?: Deno.HttpClient;
  /** Ends every request. */
  signal: AbortSignal;
}

type RequestOptions = Parameters<Client4["getOptions"]>[0];

/** Bytes of an answer in JSON: a page of posts is far below. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const TIMEOUT_MS = 30_000;
/** For a request with a file in it, and for a file that is fetched. */
const FILE_TIMEOUT_MS = 300_000;

/** Where a server says nothing of when to come again. */
const RATE_WAIT_MS = 1_000;
const MAX_RATE_WAIT_MS = 10 * 60_000;

export class MattermostClient extends Client4 {
  readonly #deps: MattermostClientDeps;
  /** By `clock.elapsed`: until then the server is left alone. */
  #freeAtMs = -Infinity;

  constructor(deps: MattermostClientDeps) {
    super();
    this.#deps = deps;
    this.setUrl(deps.url);
    this.setToken(deps.token);
    this.setIncludeCookies(false);
  }

  /** Every call of the API comes here. Rejects with an ApiError. */
  protected override doFetch = async <Answer>(
    url: string,
    options: RequestOptions,
  ): Promise<Answer> => {
    const timeoutMs = options.body instanceof FormData ? FILE_TIMEOUT_MS : TIMEOUT_MS;
    return await this.#request(url, options, timeoutMs, async (response, ending) => {
      const bytes = await readBounded(response, MAX_ANSWER_BYTES, ending);
      if (bytes === undefined) throw new ApiError("The server's answer is too large", sent(0));
      try {
        return JSON.parse(new TextDecoder().decode(bytes)) as Answer;
      } catch {
        throw new ApiError("The server's answer is no JSON", sent(0));
      }
    });
  };

  /** A post that nobody is notified of, where the server knows that (from version 11, for bots). */
  createQuietPost(post: Parameters<Client4["createPost"]>[0]): ReturnType<Client4["createPost"]> {
    const body = JSON.stringify(post);
    return this.doFetch(`${this.getPostsRoute()}?silent=true`, { method: "post", body });
  }

  /** A file; undefined when it has more bytes. Rejects with an ApiError. */
  fetchFile(fileId: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#request(
      this.getFileRoute(encodeURIComponent(fileId)),
      { method: "get" },
      FILE_TIMEOUT_MS,
      (response, ending) => readBounded(response, maxBytes, ending),
    );
  }

  async #request<Result>(
    url: string,
    options: RequestOptions,
    timeoutMs: number,
    read: (response: Response, ending: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { clock, signal, httpClient } = this.#deps;
    const waitMs = this.#freeAtMs - clock.elapsed();
    if (waitMs > 0) throw rateLimited(waitMs, false);
    return await withDeadline({ timeoutMs, signal, clock }, async (ending) => {
      try {
        const request = this.getOptions(options);
        const response = await fetch(url, {
          method: request.method?.toUpperCase(),
          headers: request.headers as Record<string, string>,
          body: request.body,
          // A token goes to the server that was named, and nowhere else.
          redirect: "manual",
          signal: ending,
          ...httpClient !== undefined && { client: httpClient },
        });
        if (response.ok) return await read(response, ending);
        throw await this.#failure(response, ending);
      } catch (error) {
        if (error instanceof ApiError) throw error;
        if (signal.aborted) throw new ApiError("The channel was stopped", sent(0));
        if (ending.aborted) throw new ApiError("The server has not answered in time", sent(0));
        throw new ApiError(`The server cannot be reached: ${reasonOf(error)}`, {
          status: 0,
          isSent: !neverSent(error),
        });
      }
    });
  }

  async #failure(response: Response, ending: AbortSignal): Promise<ApiError> {
    const { status, headers } = response;
    const bytes = await readBounded(response, 256 * 1024, ending).catch(() => undefined);
    if (status === 429) {
      const waitMs = rateWaitMs(headers, this.#deps.clock.now());
      this.#freeAtMs = Math.max(this.#freeAtMs, this.#deps.clock.elapsed() + waitMs);
      return rateLimited(waitMs, true);
    }
    if (status >= 300 && status < 400) {
      const to = headers.get("location") ?? "";
      const place = URL.canParse(to) ? new URL(to).origin : "another address";
      return new ApiError(`The server sends requests to ${place}: set url to that`, sent(status));
    }
    const { id, message } = saidBy(bytes);
    const words = message === "" ? `The server answers with the status ${status}` : message;
    return new ApiError(words, { ...sent(status), id });
  }
}

function sent(status: number): { status: number; isSent: true } {
  return { status, isSent: true };
}

function rateLimited(retryAfterMs: number, isSent: boolean): ApiError {
  const message = `The server asks for a pause of ${Math.ceil(retryAfterMs / 1_000)} s`;
  return new ApiError(message, { status: 429, retryAfterMs, isSent });
}

/** Seconds of `Retry-After`, else of `X-RateLimit-Reset`: seconds from now, or since 1970. */
function rateWaitMs(headers: Headers, nowMs: number): number {
  for (const name of ["retry-after", "x-ratelimit-reset"]) {
    const seconds = Number(headers.get(name) ?? NaN);
    if (!Number.isFinite(seconds) || seconds < 0) continue;
    const ms = seconds > 1e9 ? seconds * 1_000 - nowMs : seconds * 1_000;
    return Math.min(Math.max(ms, 100), MAX_RATE_WAIT_MS);
  }
  return RATE_WAIT_MS;
}

/** The error that the server writes: `{id, message, …}`; proxies write pages instead. */
function saidBy(bytes: Uint8Array | undefined): { id: string; message: string } {
  try {
    const { id, message } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const text = (value: unknown) => typeof value === "string" ? value.slice(0, 300) : "";
    return { id: text(id), message: text(message).replace(/[.\s]+$/, "") };
  } catch {
    return { id: "", message: "" };
  }
}

/** What went wrong below, which a failed fetch keeps as its cause. */
function reasonOf(error: unknown): string {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = deepest instanceof Error ? deepest.message : String(deepest);
  return reason.replace(/for url \([^)]*\):?/g, "").replace(/\s+/g, " ").trim().slice(0, 200);
}
