/**
 * Slack's Web API by the real client, without its hidden retries: the service has its own, and a message
 * that was sent twice is two messages.
 *
 * @module
 */

import { WebClient } from "@slack/web-api";
import type { Clock } from "../../../lib/base/clock.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import { boundedFetch } from "./bounded_fetch.ts";
import { quietLogger } from "./quiet_logger.ts";
import { type CallKind, slackFault } from "./slack_fault.ts";

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
    logger: quietLogger,
    fetch: boundedFetch({ signal, timeoutMs: CALL_MS, clock }),
  };
}

/** An answer of the Web API; what is in it is looked at where it is used. */
export type SlackAnswer = Readonly<Record<string, unknown>>;

export class SlackApi {
  readonly #client: WebClient;
  readonly #deps: SlackApiDeps;
  /** Until when Slack wants no call, by the method and where that counts the chat; as `clock.elapsed`. */
  readonly #blockedUntilMs = new Map<string, number>();

  constructor(deps: SlackApiDeps) {
    this.#deps = deps;
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
    const { clock, signal, onRefused } = this.#deps;
    signal.throwIfAborted();
    // Messages are counted for each conversation: one that has too many holds up no other.
    const limited = method === "chat.postMessage" ? `${method} ${args.channel}` : method;
    const leftMs = (this.#blockedUntilMs.get(limited) ?? 0) - clock.elapsed();
    if (leftMs > 0) {
      throw new RetryLaterError(`Slack takes ${method} again later`, Math.ceil(leftMs));
    }
    try {
      return { ...await this.#client.apiCall(method, { ...args }) };
    } catch (error) {
      const fault = slackFault(error, method, kind);
      if (fault instanceof LoginRefusedError) onRefused?.(fault);
      // Slack that is away may be back at any moment.
      if (fault instanceof RetryLaterError && !(fault instanceof NotConnectedError)) {
        this.#block(limited, clock.elapsed() + fault.retryAfterMs);
      }
      throw fault;
    }
  }

  #block(limited: string, untilMs: number): void {
    const nowMs = this.#deps.clock.elapsed();
    for (const [each, endMs] of this.#blockedUntilMs) {
      if (endMs <= nowMs) this.#blockedUntilMs.delete(each);
    }
    this.#blockedUntilMs.set(limited, untilMs);
  }
}

/** A text of an answer; empty where there is none. */
export function textOf(answer: unknown, ...path: readonly string[]): string {
  let value = answer;
  for (const key of path) {
    value = typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)[key]
      : undefined;
  }
  return typeof value === "string" ? value : "";
}

/** The objects of a list of an answer. */
export function listOf(answer: SlackAnswer, key: string): Record<string, unknown>[] {
  const value = answer[key];
  return Array.isArray(value)
    ? value.filter((one) => typeof one === "object" && one !== null && !Array.isArray(one))
    : [];
}
