/**
 * Interactive connections, such as by a code to scan: one an instance, from its start to the values that
 * it brings, which are written as any others and shown to nobody.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { ConnectAnswer } from "../../channel/descriptor.ts";
import type { WorkerSource } from "../../channel_worker/worker_source.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { ChannelWorkers, OpenConnector } from "./channel_workers.ts";
import { withoutValues } from "./without_values.ts";

/** How a connection stands, for whoever asks. */
export type ShownConnection = Omit<ConnectAnswer, "values">;

/** What connections are made with. */
export interface ConnectsDeps {
  workers: Pick<ChannelWorkers, "connector">;
  /** Of a channel's connector, as it is configured now. Rejects with a ServiceError. */
  sourceOf(name: string, instanceId: string | undefined): Promise<WorkerSource>;
  /** Writes what a connector has brought. */
  apply(asked: {
    name: string;
    instanceId: string | undefined;
    values: Readonly<Record<string, unknown>>;
    by: string;
  }): Promise<void>;
  /** Whether a field of a channel holds a secret. */
  isSecret(name: string, field: string): boolean;
  clock: Clock;
}

/** What is asked about a connection. */
export interface ConnectRequest {
  /** Of a channel with a connector. */
  name: string;
  action: "start" | "poll" | "cancel";
  /** `instance_id` names the instance that is connected. */
  query: Readonly<Record<string, string>>;
  by: string;
}

/** From its start to its values, milliseconds. */
export const CONNECT_LIMIT_MS = 600_000;

/** Connections that are under way at the same time. */
const MAX_OPEN = 8;

/** Connections that are remembered. */
const MAX_KEPT = 100;

/** How long a connector may put things away after a cancellation, milliseconds. */
const CANCEL_MS = 5_000;

/** How a connection ended is remembered until the next one of the instance. */
export class Connects {
  readonly #deps: ConnectsDeps;
  readonly #connections = new Map<string, Connection>();

  constructor(deps: ConnectsDeps) {
    this.#deps = deps;
  }

  /**
   * Throws `conflict` for a start while another of the instance is under way, `overloaded` while there are
   * too many in all, and `not_found` without one to poll.
   */
  async answer(request: ConnectRequest): Promise<ShownConnection> {
    const { name, action, query: { instance_id: instanceId = "default" } } = request;
    const key = JSON.stringify([name, instanceId]);
    const known = this.#connections.get(key);
    switch (action) {
      case "start": {
        if (known !== undefined && !known.isOver) {
          throw new ServiceError(
            "conflict",
            `${name} is being connected already: poll that, or cancel it first`,
          );
        }
        this.#makeRoom();
        const connection = new Connection(request, this.#deps);
        this.#connections.set(key, connection);
        return await connection.step("start", request.query);
      }
      case "poll":
        if (known === undefined) {
          throw new ServiceError("not_found", `Nothing connects ${name}; start that first`);
        }
        return await known.step("poll", request.query);
      case "cancel":
        return await known?.cancel(request.query) ?? CANCELLED;
    }
  }

  #makeRoom(): void {
    const all = [...this.#connections];
    const over = all.filter(([, connection]) => connection.isOver);
    if (all.length - over.length >= MAX_OPEN) {
      throw new ServiceError("overloaded", `${MAX_OPEN} connections are under way; cancel one`);
    }
    for (const [key] of over.slice(0, all.length - MAX_KEPT + 1)) this.#connections.delete(key);
  }

  /** Ends all of them. */
  close(): void {
    for (const connection of this.#connections.values()) connection.close();
  }
}

const CANCELLED: ShownConnection = { state: "cancelled", message: "The connection was cancelled" };

/** One, from its start. Its last state is for ever. */
class Connection {
  readonly #request: ConnectRequest;
  readonly #deps: ConnectsDeps;
  readonly #stopTimer: () => void;
  #connector: OpenConnector | undefined;
  #scrub: (text: string) => string = (text) => text;
  #shown: ShownConnection = { state: "waiting", message: "It is being started" };
  #isOver = false;
  #isApplying = false;
  /** What is being asked; whoever asks meanwhile is answered the same. */
  #step: Promise<ShownConnection> | undefined;

  constructor(request: ConnectRequest, deps: ConnectsDeps) {
    this.#request = request;
    this.#deps = deps;
    this.#stopTimer = deps.clock.after(CONNECT_LIMIT_MS, () => {
      // What was brought in time is written to its end.
      if (this.#isApplying) return;
      const minutes = CONNECT_LIMIT_MS / 60_000;
      this.#end({
        state: "failed",
        message: `It took longer than ${minutes} minutes; start again`,
      });
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  step(action: "start" | "poll", query: ConnectRequest["query"]): Promise<ShownConnection> {
    if (this.#isOver) return Promise.resolve(this.#shown);
    return this.#step ??= this.#ask(action, query).finally(() => this.#step = undefined);
  }

  async cancel(query: ConnectRequest["query"]): Promise<ShownConnection> {
    // What is being written cannot be called back, so it is said how that ended.
    if (this.#isApplying) return await this.#step!;
    if (this.#isOver) return this.#shown;
    const connector = this.#connector;
    this.#connector = undefined;
    this.#end(CANCELLED);
    if (connector !== undefined) {
      const stop = this.#deps.clock.after(CANCEL_MS, connector.close);
      connector.handle("cancel", query).catch(() => {}).finally(() => {
        stop();
        connector.close();
      });
    }
    return this.#shown;
  }

  close(): void {
    if (!this.#isOver) this.#end({ state: "failed", message: "The service is stopping" });
  }

  async #ask(
    action: "start" | "poll",
    query: ConnectRequest["query"],
  ): Promise<ShownConnection> {
    const { name } = this.#request;
    try {
      const connector = this.#connector ?? await this.#open();
      if (connector === undefined) return this.#shown;
      const { values = {}, ...shown } = await connector.handle(action, query);
      // Cancelled, or too late: whatever the platform says now counts no more.
      if (this.#isOver) return this.#shown;
      if (shown.state === "connected") return await this.#apply(values, shown);
      if (shown.state === "waiting") return this.#shown = this.#scrubbed(shown);
      return this.#end(shown);
    } catch (error) {
      const { message } = toErrorData(error);
      return this.#end({ state: "failed", message: `${name} could not be connected: ${message}` });
    }
  }

  /** Undefined when it was cancelled meanwhile. */
  async #open(): Promise<OpenConnector | undefined> {
    const { name, query } = this.#request;
    const source = await this.#deps.sourceOf(name, query.instance_id);
    this.#scrub = withoutValues(source.boot.secrets);
    const connector = await this.#deps.workers.connector(source);
    if (this.#isOver) {
      connector.close();
      return undefined;
    }
    return this.#connector = connector;
  }

  async #apply(
    values: NonNullable<ConnectAnswer["values"]>,
    { message }: ShownConnection,
  ): Promise<ShownConnection> {
    const { name, query, by } = this.#request;
    const own = this.#scrub;
    const texts = Object.entries(values).filter(([, value]) => typeof value === "string");
    const without = (shown: typeof texts) => {
      const brought = withoutValues(shown.map(([, value]) => value as string));
      return (text: string) => brought(own(text));
    };
    // Any of them may be a secret, as long as nobody has held them against the contract.
    this.#scrub = without(texts);
    this.#isApplying = true;
    try {
      await this.#deps.apply({ name, instanceId: query.instance_id, values, by });
    } finally {
      this.#isApplying = false;
    }
    this.#scrub = without(texts.filter(([field]) => this.#deps.isSecret(name, field)));
    return this.#end({ state: "connected", message });
  }

  /** The first end is the last word. */
  #end(shown: ShownConnection): ShownConnection {
    if (this.#isOver) return this.#shown;
    this.#isOver = true;
    this.#stopTimer();
    this.#connector?.close();
    this.#connector = undefined;
    // A code is of no use any more.
    const { show: _, asks: __, ...rest } = shown;
    return this.#shown = this.#scrubbed(rest);
  }

  #scrubbed({ state, message, show, asks }: ShownConnection): ShownConnection {
    return {
      state,
      message: this.#scrub(message),
      ...show !== undefined && {
        show: Object.fromEntries(
          Object.entries(show).map(([key, text]) => [key, this.#scrub(text)]),
        ),
      },
      ...asks !== undefined && { asks: this.#scrub(asks) },
    };
  }
}
