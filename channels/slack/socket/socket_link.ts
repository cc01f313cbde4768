/**
 * Keeps Socket Mode connected: a new connection is there before Slack takes the old one away, and what is
 * lost comes again after 1, 2, 4 … 60 seconds.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import { backoffMs, sleep } from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import { SlackRefusal } from "../api/slack_fault.ts";
import { type Envelope, SocketConnection } from "./socket_connection.ts";

/** What it works with. */
export interface SocketLinkDeps {
  appToken: string;
  apiUrl: URL;
  clock: Clock;
  log: Pick<Log, "info" | "warning">;
  onEnvelope: (envelope: Envelope) => Promise<void>;
  /** It is connected. `others`: how many other programs use the same token. `wasAway`: with a gap before. */
  onConnected: (state: { others: number; wasAway: boolean }) => void;
  /** It is not connected, and why. */
  onAway: (reason: string) => void;
}

/** A connection that held so long was a good one, milliseconds. */
const STEADY_MS = 30_000;

export class SocketLink {
  readonly #deps: SocketLinkDeps;
  readonly #open = new Set<SocketConnection>();

  constructor(deps: SocketLinkDeps) {
    this.#deps = deps;
  }

  /** Runs until the signal says so. Rejects with `LoginRefusedError` where no repeat helps. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, onAway, onConnected } = this.#deps;
    let failures = 0;
    let old: SocketConnection | undefined;
    try {
      while (!signal.aborted) {
        const began = clock.elapsed();
        const asked = Promise.withResolvers<string>();
        try {
          const connection = await this.#connect(signal, asked.resolve);
          const wasAway = old === undefined || old.isOver;
          onConnected({ others: connection.connections - this.#open.size, wasAway });
          old?.close();
          old = connection;
          const reason = await Promise.race([asked.promise, connection.over.then(() => "")]);
          if (signal.aborted) return;
          requireEnabled(reason);
          log.info("The connection to Slack is renewed", { reason: reason || "it was lost" });
          if (clock.elapsed() - began > STEADY_MS || reason !== "") failures = 0;
          if (reason !== "") continue;
          onAway("the connection was lost");
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof LoginRefusedError) throw error;
          const words = error instanceof Error ? error.message : String(error);
          onAway(words);
          log.info("Slack is not connected", { reason: words });
          if (error instanceof RetryLaterError && !(error instanceof NotConnectedError)) {
            await sleep(error.retryAfterMs, clock, signal);
            continue;
          }
        }
        await sleep(backoffMs(failures += 1), clock, signal);
      }
    } finally {
      for (const connection of this.#open) connection.cut();
    }
  }

  async #connect(
    signal: AbortSignal,
    onRefresh: (reason: string) => void,
  ): Promise<SocketConnection> {
    const { appToken, apiUrl, clock, onEnvelope } = this.#deps;
    const connection = new SocketConnection({
      appToken,
      apiUrl,
      clock,
      signal,
      onEnvelope,
      onRefresh,
    });
    this.#open.add(connection);
    void connection.over.then(() => this.#open.delete(connection));
    try {
      await connection.open();
    } catch (error) {
      if (error instanceof SlackRefusal && TOKEN_CODES.has(error.code)) {
        throw new LoginRefusedError(
          "appToken may not open connections: make one with the scope connections:write under " +
            `Basic Information, App-Level Tokens (${error.code})`,
        );
      }
      throw error;
    }
    return connection;
  }
}

const TOKEN_CODES: ReadonlySet<string> = new Set(["missing_scope", "not_allowed_token_type"]);

function requireEnabled(reason: string): void {
  if (reason !== "link_disabled") return;
  throw new LoginRefusedError(
    "Socket Mode is switched off for the app: switch it on under Socket Mode, or set mode to http",
  );
}
