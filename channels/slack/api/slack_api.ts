/**
 * Slack's Web API by the real client, without its hidden retries: the service has its own, and a message
 * that was sent twice is two messages.
 *
 * @module
 */

import { WebClient } from "@slack/web-api";
import type { Clock } from "../../../lib/base/clock.ts";
import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import {
  boundedFetch,
  ofRepeatable,
  pauseOf,
  Pauses,
  silentLogger,
} from "../../../lib/channel/platform/mod.ts";
import { slackFault, slackPause } from "./slack_faults.ts";

/** How a method stands to being called twice. */
export type CallKind =
  /** A second call does what the first did, or nothing. */
  | "repeatable"
  /** A second call makes a second message. */
  | "once";

/** What it works with. */
export interface SlackApiDeps {
  token: string;
  apiUrl: URL;
  clock: Clock;
  /** Ends every call. */
  signal: AbortSignal;
  /** Called when Slack does not accept the token any more. */
  onRefused?: (error: LoginRefusedError) => void;
}

/** How long a call may take, milliseconds. */
const CALL_MS = 30_000;

/** Options that both clients of the SDK have in common. */
export function clientOptions({ apiUrl, clock, signal }: Omit<SlackApiDeps, "token">) {
  return {
    slackApiUrl: apiUrl.href,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: silentLogger,
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      boundedFetch(input, init, { peer: "Slack", timeoutMs: CALL_MS, clock, signal }),
  };
}

/** An answer of the Web API; what is in it is looked at where it is used. */
export type SlackAnswer = Readonly<Record<string, unknown>>;

export class SlackApi {
  readonly #client: WebClient;
  readonly #deps: SlackApiDeps;
  /** By the method, and where that counts the chat. */
  readonly #pauses: Pauses;

  constructor(deps: SlackApiDeps) {
    this.#deps = deps;
    this.#pauses = new Pauses(deps.clock);
    this.#client = new WebClient(deps.token, clientOptions(deps));
  }

  /**
   * Calls a method. Rejects with what {@linkcode slackFault} makes of it; with `RetryLaterError` at once
   * while Slack wants no more of the method.
   */
  async call(
    method: string,
    args: Readonly<Record<string, unknown>> = {},
    kind: CallKind = "repeatable",
  ): Promise<SlackAnswer> {
    const { signal, onRefused } = this.#deps;
    signal.throwIfAborted();
    // Messages are counted for each conversation: one that has too many holds up no other.
    const limited = method === "chat.postMessage" ? `${method} ${args.channel}` : method;
    const leftMs = this.#pauses.leftMs(limited);
    if (leftMs > 0) throw slackPause(method, Math.ceil(leftMs));
    try {
      return { ...await this.#client.apiCall(method, { ...args }) };
    } catch (error) {
      signal.throwIfAborted();
      const fault = slackFault(error, method);
      if (fault instanceof LoginRefusedError) onRefused?.(fault);
      const pauseMs = pauseOf(fault);
      if (pauseMs > 0) this.#pauses.begin(limited, pauseMs);
      throw kind === "once" ? fault : ofRepeatable(fault);
    }
  }
}

/** A text of an answer; empty where there is none. */
export function textOf(answer: unknown, ...path: readonly string[]): string {
  const value = path.reduce<unknown>((inside, key) => Object(inside)[key], answer);
  return typeof value === "string" ? value : "";
}

/** The objects of a list of an answer. */
export function listOf(answer: SlackAnswer, key: string): Record<string, unknown>[] {
  const value = answer[key];
  return Array.isArray(value)
    ? value.filter((one) => typeof one === "object" && one !== null && !Array.isArray(one))
    : [];
}
