/**
 * The settings of channels over a gateway's port, as a page has them.
 *
 * @module
 */

import type { Running } from "./home.ts";
import { bootstrap, httpOf } from "./wire_socket.ts";

const PATIENCE_MS = 60_000;

/** How a request was answered. */
export interface SettingsReply {
  status: number;
  // deno-lint-ignore no-explicit-any -- tests look at whatever came
  body: any;
}

/** How an instance is. */
export interface WireStatus {
  state: string;
  /** What it says of itself. */
  detail?: string;
  problem?: string;
  restarts: number;
  deliveries: { waiting: number; sent: number; unknown: number; dead: number };
}

export class ChannelSettings {
  readonly #url: URL;
  readonly #token: string;

  private constructor(url: URL, token: string) {
    this.#url = url;
    this.#token = token;
  }

  static async open({ wsUrl }: Running): Promise<ChannelSettings> {
    const { api_token } = await bootstrap(wsUrl);
    return new ChannelSettings(httpOf(wsUrl), api_token);
  }

  async call(method: string, path: string, body?: unknown): Promise<SettingsReply> {
    const response = await fetch(new URL(`/api/settings/channels${path}`, this.#url), {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  set(name: string, values: Record<string, unknown>): Promise<SettingsReply> {
    return this.call("PUT", `/${name}`, { values });
  }

  /** How each is. */
  async statuses(): Promise<Map<string, WireStatus>> {
    const { body } = await this.call("GET", "");
    return new Map(
      body.channels.map(({ name, status }: { name: string; status: WireStatus }) => [name, status]),
    );
  }

  /** Asks until it holds of one; what it is then. Throws when it has waited too long. */
  async until(name: string, holds: (status: WireStatus) => boolean): Promise<WireStatus> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const status = (await this.statuses()).get(name);
      if (status !== undefined && holds(status)) return status;
      if (performance.now() > giveUpAt) {
        throw new Error(`Waited in vain for ${holds} of ${name}: ${JSON.stringify(status)}`);
      }
      await new Promise((again) => setTimeout(again, 20));
    }
  }
}
