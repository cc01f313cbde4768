/**
 * One connection to Discord's gateway, by the shard of discord.js: it says who it is or resumes, beats,
 * and notices a connection that is dead. Connecting again is left to whoever opened it.
 *
 * @module
 */

import {
  DefaultWebSocketManagerOptions,
  type GatewayDispatchPayload,
  SimpleShardingStrategy,
  WebSocketShardDestroyRecovery,
} from "discord.js";
import type { Clock } from "../../../lib/base/clock.ts";
import { object } from "../inbound/read_message.ts";
import { isSnowflake } from "../rest/discord_api.ts";

/** What a session is resumed by. */
export interface GatewaySession {
  sessionId: string;
  /** Number of the last event that was dealt with. */
  sequence: number;
  /** Such as `wss://gateway-us-east1-b.discord.gg`. */
  resumeUrl: string;
}

/** How a connection ended. */
export interface ShardEnd {
  /** As Discord gave it; 0 where the connection was cut off, undefined where we ended it. */
  code?: number;
  /** Whether its session may be resumed. */
  canResume: boolean;
  /** In words, where the connection itself failed. */
  problem?: string;
}

/** What a connection is opened with. */
export interface ShardOptions {
  token: string;
  /** Bits of what is wanted to be heard. */
  intents: number;
  /** Of the gateway. */
  url: string;
  session: GatewaySession | undefined;
  clock: Pick<Clock, "after">;
  /** Each event, in its order. */
  onDispatch(payload: GatewayDispatchPayload): void;
}

/** Discord's answer to a close is not waited for any longer, milliseconds. */
const CLOSE_MS = 2_000;
/** For the hello, and for the answer to the login, milliseconds. */
const HELLO_MS = 20_000;
const READY_MS = 15_000;
/** Between two heartbeats: less would be a flood, and more is no sign of life, milliseconds. */
const LEAST_BEAT_MS = 10;
const LONGEST_BEAT_MS = 10 * 60_000;
/** Operations of the gateway that are looked at before the client does. */
const DISPATCH = 0;
const HELLO = 10;

/**
 * The members of a shard of @discordjs/ws that are used here. discord.js exports another class under that
 * name, so that its strategy has to make one; the version is fixed in imports.json.
 */
interface SdkShard {
  connection: WebSocket | null;
  internalConnect(): Promise<void>;
  destroy(options?: DestroyOptions): Promise<void>;
  onMessage(data: unknown, isBinary: boolean): Promise<void>;
  unpackMessage(data: unknown, isBinary: boolean): Promise<unknown>;
  initialHeartbeatTimeoutController: AbortController | null;
  onError(error: unknown): void;
}

interface DestroyOptions {
  code?: number;
  reason?: string;
  recover?: WebSocketShardDestroyRecovery;
}

interface SdkSession {
  sessionId: string;
  sequence: number;
  resumeURL: string;
  shardId: number;
  shardCount: number;
}

export class GatewayShard {
  readonly #options: ShardOptions;
  readonly #over = Promise.withResolvers<ShardEnd>();
  #shard: SdkShard | undefined;
  #session: SdkSession | null;
  #ending: Promise<void> | undefined;
  #code: number | undefined;
  #problem: string | undefined;
  #saidHello = false;

  private constructor(options: ShardOptions) {
    this.#options = options;
    const { session } = options;
    this.#session = session === undefined ? null : {
      sessionId: session.sessionId,
      sequence: session.sequence,
      resumeURL: options.url,
      shardId: 0,
      shardCount: 1,
    };
  }

  /** Begins to connect. */
  static async open(options: ShardOptions): Promise<GatewayShard> {
    const opened = new GatewayShard(options);
    const strategy = new SimpleShardingStrategy(opened.#manager() as never);
    await strategy.spawn([0]);
    const { shards } = strategy as unknown as { shards: ReadonlyMap<number, SdkShard> };
    opened.#connect(shards.get(0)!);
    return opened;
  }

  /** Resolves when the connection is over. */
  get ended(): Promise<ShardEnd> {
    return this.#over.promise;
  }

  /** Closes it, so that its session can be resumed. `problem`: why, for people. */
  close(problem?: string): Promise<void> {
    this.#problem ??= problem;
    return this.#finish({ recover: WebSocketShardDestroyRecovery.Resume });
  }

  /** What a strategy wants of a manager; a real one would ask for the gateway and connect by itself. */
  #manager(): unknown {
    const { token, intents, url } = this.#options;
    return {
      options: {
        ...DefaultWebSocketManagerOptions,
        token,
        intents,
        compression: null,
        helloTimeout: HELLO_MS,
        readyTimeout: READY_MS,
        // Whoever opens it sees to the limit of logins.
        buildIdentifyThrottler: () => Promise.resolve({ waitForIdentify: () => Promise.resolve() }),
        retrieveSessionInfo: () => this.#session,
        updateSessionInfo: (_shardId: number, session: SdkSession | null) => {
          this.#session = session;
        },
      },
      fetchGatewayInformation: () => Promise.resolve({ url }),
      getShardCount: () => Promise.resolve(1),
      emit: (event: string, said: { code?: number; data?: unknown }) => {
        if (event === "closed") this.#code ??= said.code;
        if (event === "hello") this.#saidHello = true;
        if (event === "dispatch" && this.#ending === undefined) {
          this.#options.onDispatch(said.data as GatewayDispatchPayload);
        }
      },
    };
  }

  #connect(shard: SdkShard): void {
    this.#shard = shard;
    const { onMessage, unpackMessage, destroy } = shard;
    this.#destroy = destroy.bind(shard);
    shard.destroy = (options) => this.#finish(options ?? {});
    // What is no payload of the gateway would end the process.
    shard.onMessage = (data, isBinary) =>
      onMessage.call(shard, data, isBinary).catch(() => this.#fail("it sent what is no event"));
    // A hello that was on its way when it ended would begin to beat.
    shard.unpackMessage = async (data, isBinary) => {
      const payload = await unpackMessage.call(shard, data, isBinary);
      if (this.#ending !== undefined) return null;
      this.#requireSound(payload);
      return payload;
    };
    // A close follows, which says all; to be told of it twice would cost the session.
    shard.onError = (error) => {
      const words = error instanceof Error ? error.message : "";
      this.#problem ??= words.replace(/^NetworkError: /, "").slice(0, 200);
    };
    shard.internalConnect().catch((error) =>
      this.#fail(error instanceof Error ? error.message.slice(0, 200) : "it cannot be connected to")
    );
  }

  /** Throws for what the client would take as it is: a session without a name, a beat without an end. */
  #requireSound(payload: unknown): void {
    const { op, t, s, d } = object(payload);
    if (op === HELLO) {
      const everyMs = object(d).heartbeat_interval;
      const isSound = typeof everyMs === "number" && everyMs >= LEAST_BEAT_MS &&
        everyMs <= LONGEST_BEAT_MS;
      // A second one would begin a beat that nothing ends.
      if (!isSound || this.#saidHello) throw new Error("The hello is none");
    }
    if (op !== DISPATCH) return;
    const { session_id: sessionId, user } = object(d);
    const isNameless = typeof sessionId !== "string" || !isSnowflake(object(user).id);
    if (typeof s !== "number" || t === "READY" && isNameless) throw new Error("The event is none");
  }

  #destroy: (options: DestroyOptions) => Promise<void> = () => Promise.resolve();

  async #fail(problem: string): Promise<void> {
    this.#problem ??= problem;
    await this.#finish({ recover: WebSocketShardDestroyRecovery.Resume });
  }

  /** The first who ends it says how; the shard by itself would connect again every half second. */
  #finish(options: DestroyOptions): Promise<void> {
    return this.#ending ??= this.#end(options);
  }

  async #end({ code, reason, recover }: DestroyOptions): Promise<void> {
    const canResume = recover === WebSocketShardDestroyRecovery.Resume || !this.#saidHello;
    const connection = this.#shard?.connection;
    const late = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(CLOSE_MS, late.resolve);
    // 1000 ends the session at Discord, and 4200 keeps it.
    const closed = this.#destroy({ code: code || (canResume ? 4_200 : 1_000), reason });
    if (connection?.readyState === WebSocket.CONNECTING) connection.close();
    await Promise.race([closed.catch(() => {}), late.promise]);
    cancel();
    this.#shard?.initialHeartbeatTimeoutController?.abort();
    this.#over.resolve({
      canResume,
      ...this.#code !== undefined && { code: this.#code },
      ...this.#problem !== undefined && { problem: this.#problem },
    });
  }
}
