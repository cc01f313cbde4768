/**
 * Connects to Discord's gateway: resumes the session where that is possible, and begins a new one elsewhere.
 *
 * @module
 */

import type { APIGatewayBotInfo, GatewayDispatchPayload } from "discord.js";
import type { Clock } from "../../../lib/base/clock.ts";
import { LoginRefusedError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import { sleep } from "../../../lib/channel/platform/mod.ts";
import { hopeless } from "./close_words.ts";
import { type GatewaySession, GatewayShard, type ShardEnd } from "./gateway_shard.ts";

/** What a gateway works with. */
export interface GatewayDeps {
  token: string;
  intents: number;
  /** Where the gateway is, and how many sessions may begin. */
  info: () => Promise<APIGatewayBotInfo>;
  /** The session to resume, as far as its events were dealt with. */
  session: () => GatewaySession | undefined;
  /** There is none any more. */
  onSessionLost: () => void;
  onDispatch: (payload: GatewayDispatchPayload) => void;
  /** Resolves when there is room for more events. */
  room: () => Promise<void>;
  /** How it is, for people; while it is not connected. */
  say: (state: string) => void;
  clock: Clock;
}

/** Between two logins (developer documentation, "Rate Limiting" of the gateway). */
const IDENTIFY_MS = 5_000;
/** Tries at the address of a session before that of all is taken, and at that before another one begins. */
const MAX_RESUMES = 3;

export class Gateway {
  readonly #deps: GatewayDeps;
  #shard: GatewayShard | undefined;
  #isReady = false;
  /** Connections that came to nothing, one after the other. */
  #failures = 0;
  /** Of them, resumes at the address of all. */
  #vainResumes = 0;
  #loggedInAtMs = -Infinity;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
  }

  /** One connection; resolves with why it is over. Rejects with LoginRefusedError where no repeat helps. */
  async connect(signal: AbortSignal): Promise<string> {
    const close = () => void this.#shard?.close();
    signal.addEventListener("abort", close, { once: true });
    this.#isReady = false;
    try {
      await this.#deps.room();
      return await this.#connect(signal);
    } finally {
      signal.removeEventListener("abort", close);
      this.#failures = this.#isReady ? 0 : this.#failures + 1;
      if (this.#isReady) this.#vainResumes = 0;
    }
  }

  /** Ends the connection that there is, to be resumed when there is room. */
  pause(): void {
    void this.#shard?.close("more has come than could be written down yet");
  }

  async #connect(signal: AbortSignal): Promise<string> {
    const { token, intents, clock, onSessionLost } = this.#deps;
    const session = this.#deps.session();
    const isVain = this.#failures >= MAX_RESUMES;
    // While nothing of Discord can be reached, nothing is known of the session: it is kept.
    const url = session === undefined
      ? await this.#loginUrl(signal)
      : isVain
      ? urlOf(await this.#deps.info())
      : session.resumeUrl;
    if (signal.aborted) return "";
    this.#shard = await GatewayShard.open({
      token,
      intents,
      url,
      session,
      clock,
      onDispatch: (payload) => {
        if (payload.t === "READY" || payload.t === "RESUMED") this.#isReady = true;
        this.#deps.onDispatch(payload);
      },
    });
    if (signal.aborted) void this.#shard.close();
    const end = await this.#shard.ended;
    this.#shard = undefined;
    if (signal.aborted) return "";
    const words = hopeless(end.code);
    if (words !== undefined) {
      onSessionLost();
      throw new LoginRefusedError(words);
    }
    if (session !== undefined && isVain && !this.#isReady) this.#vainResumes += 1;
    if (!end.canResume || this.#vainResumes >= MAX_RESUMES) {
      onSessionLost();
      this.#vainResumes = 0;
    }
    return problemOf(end);
  }

  async #loginUrl(signal: AbortSignal): Promise<string> {
    const { info, clock, say } = this.#deps;
    const said = await info();
    const url = urlOf(said);
    const { session_start_limit: limit } = said;
    if (limit?.remaining === 0) {
      const waitMs = Math.max(1_000, Number(limit.reset_after) || 60_000);
      const at = new Date(clock.now() + waitMs).toISOString().slice(0, 16).replace("T", " ");
      throw new RetryLaterError(
        `Discord allows no more logins of this bot until ${at} UTC (${limit.total} a day): ` +
          "something logs in with its token again and again",
        waitMs,
      );
    }
    const leftMs = this.#loggedInAtMs + IDENTIFY_MS - clock.elapsed();
    if (leftMs > 0) {
      say(`waiting ${Math.ceil(leftMs / 1_000)} s to log in again`);
      await sleep(leftMs, clock, signal);
    }
    this.#loggedInAtMs = clock.elapsed();
    return url;
  }
}

function urlOf(info: APIGatewayBotInfo | null): string {
  const url: unknown = info?.url;
  if (typeof url === "string" && /^wss?:\/\//.test(url)) return url;
  throw new Error("Discord names no gateway");
}

function problemOf({ code, problem }: ShardEnd): string {
  if (problem !== undefined && problem !== "") return problem;
  return code === undefined || code === 0
    ? "the connection was cut off"
    : `Discord closed the connection (${code})`;
}
