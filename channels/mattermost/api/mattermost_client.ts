/**
 * The client of the server's API, within bounds: requests have an end and answers a size, a rate limit is
 * obeyed by all that asks, and an error says what the server said. The package's own reading of answers
 * knows no time-out and loses the headers that say when to come again.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import {
  boundedFetch,
  bytesOf,
  callError,
  noAnswer,
  Pauses,
} from "../../../lib/channel/platform/mod.ts";
import { MATTERMOST_FAULTS } from "./mattermost_faults.ts";
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

/** The server counts all requests together. */
const ALL = "";

type RequestOptions = Parameters<Client4["getOptions"]>[0];

/** Bytes of an answer in JSON: a page of posts is far below. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const TIMEOUT_MS = 30_000;
/** For a request with a file in it, and for a file that is fetched. */
const FILE_TIMEOUT_MS = 300_000;

const MAX_RATE_WAIT_MS = 10 * 60_000;

export class MattermostClient extends Client4 {
  readonly #deps: MattermostClientDeps;
  readonly #pauses: Pauses;

  constructor(deps: MattermostClientDeps) {
    super();
    this.#deps = deps;
    this.#pauses = new Pauses(deps.clock);
    this.setUrl(deps.url);
    this.setToken(deps.token);
    this.setIncludeCookies(false);
  }

  /** Every call of the API comes here. Rejects as {@linkcode callError} has it. */
  protected override doFetch = async <Answer>(
    url: string,
    options: RequestOptions,
  ): Promise<Answer> => {
    const timeoutMs = options.body instanceof FormData ? FILE_TIMEOUT_MS : TIMEOUT_MS;
    const answer = await this.#request(url, options, { timeoutMs, maxBytes: MAX_ANSWER_BYTES });
    try {
      return await answer.json();
    } catch {
      throw noAnswer("The server's answer is no JSON");
    }
  };

  /** A post that nobody is notified of, where the server knows that (from version 11, for bots). */
  createQuietPost(post: Parameters<Client4["createPost"]>[0]): ReturnType<Client4["createPost"]> {
    const body = JSON.stringify(post);
    return this.doFetch(`${this.getPostsRoute()}?silent=true`, { method: "post", body });
  }

  /** A file; undefined when it has more bytes. Rejects as a call does. */
  fetchFile(fileId: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const url = this.getFileRoute(encodeURIComponent(fileId));
    const bounds = { timeoutMs: FILE_TIMEOUT_MS, maxBytes };
    return bytesOf(this.#request(url, { method: "get" }, bounds));
  }

  async #request(
    url: string,
    options: RequestOptions,
    bounds: { timeoutMs: number; maxBytes: number },
  ): Promise<Response> {
    const { clock, signal, httpClient: client } = this.#deps;
    const leftMs = this.#pauses.leftMs(ALL);
    if (leftMs > 0) throw rateLimited(leftMs);
    const { method, headers, body } = this.getOptions(options);
    const init = {
      method: method?.toUpperCase(),
      headers: headers as Record<string, string>,
      body,
      ...client !== undefined && { client },
    };
    const { peer } = MATTERMOST_FAULTS;
    const answer = await boundedFetch(url, init, { peer, field: "url", ...bounds, clock, signal });
    if (answer.ok) return answer;
    const { status } = answer;
    if (status === 429) {
      const waitMs = rateWaitMs(answer.headers, clock.now());
      this.#pauses.begin(ALL, waitMs);
      throw rateLimited(waitMs);
    }
    throw callError(MATTERMOST_FAULTS, { status, ...await saidBy(answer) });
  }
}

function rateLimited(retryAfterMs: number): Error {
  const said = `it asks for a pause of ${Math.ceil(retryAfterMs / 1_000)} s`;
  return callError(MATTERMOST_FAULTS, { status: 429, said, retryAfterMs });
}

/** Seconds of `Retry-After`, else of `X-RateLimit-Reset`: seconds from now, or since 1970. */
function rateWaitMs(headers: Headers, nowMs: number): number {
  for (const name of ["retry-after", "x-ratelimit-reset"]) {
    const seconds = Number(headers.get(name) ?? NaN);
    if (!Number.isFinite(seconds) || seconds < 0) continue;
    const ms = seconds > 1e9 ? seconds * 1_000 - nowMs : seconds * 1_000;
    return Math.min(Math.max(ms, 100), MAX_RATE_WAIT_MS);
  }
  return MATTERMOST_FAULTS.unsaidMs!;
}

/** The error that the server writes: `{id, message, …}`; proxies write pages instead. */
async function saidBy(answer: Response): Promise<{ code?: string; said?: string }> {
  try {
    const { id, message } = await answer.json() as Record<string, unknown>;
    const text = (value: unknown) => typeof value === "string" ? value.slice(0, 300) : "";
    return { code: text(id), said: text(message).replace(/[.\s]+$/, "") };
  } catch {
    return {};
  }
}
