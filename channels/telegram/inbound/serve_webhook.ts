/**
 * Takes updates that Telegram posts. Each is answered when it is on the disk, so that Telegram gives again
 * what was lost on the way.
 *
 * @module
 */

import type { Update } from "grammy/types";
import type { Clock } from "../../../lib/base/clock.ts";
import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import { backoffMs, sleep } from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import { TelegramFault } from "../api/telegram_fault.ts";
import { ALLOWED_UPDATES } from "./read_update.ts";

/** Where Telegram posts to, and where that arrives. */
export interface WebhookAddress {
  url: string;
  host: string;
  port: number;
  secret: string;
}

/** What it works with. */
export interface WebhookDeps {
  api: TelegramApi;
  address: WebhookAddress;
  listen: ChannelHost["listen"];
  /** Resolves when the updates are on the disk. */
  receive: (updates: readonly Update[]) => Promise<void>;
  /** How the connection is; undefined: as it should be. */
  say: (problem: string | undefined) => void;
  clock: Clock;
  log: Pick<Log, "info" | "warning">;
}

/** Milliseconds between looks whether Telegram still posts to us. */
export const LOOK_MS = 5 * 60_000;

/** How long the last failure of Telegram's is worth a word, milliseconds. */
const RECENT_MS = 2 * LOOK_MS;

/**
 * Serves until the signal is aborted. The webhook stays set then: Telegram keeps for a day what it cannot
 * deliver. Rejects with a LoginRefusedError, and where the address is none that Telegram takes.
 */
export async function serveWebhook(deps: WebhookDeps, signal: AbortSignal): Promise<void> {
  const { address: { host, port }, listen, clock } = deps;
  const listener = await listen({ host, port }, (request) => answer(request, deps));
  try {
    if (!await setWebhook(deps, signal)) return;
    deps.say(undefined);
    for (;;) {
      await sleep(LOOK_MS, clock, signal);
      if (signal.aborted) return;
      await look(deps, signal);
    }
  } finally {
    await listener.close();
  }
}

/** One request. Whoever does not know the secret learns nothing. */
async function answer(
  request: Request,
  { address: { url, secret }, receive, log }: WebhookDeps,
): Promise<Response> {
  if (new URL(request.url).pathname !== new URL(url).pathname) {
    return new Response(null, { status: 404 });
  }
  if (request.method !== "POST") {
    return new Response(null, { status: 405, headers: { allow: "POST" } });
  }
  const given = request.headers.get("x-telegram-bot-api-secret-token") ?? "";
  if (!await isSame(given, secret)) return new Response(null, { status: 401 });
  let update: Update;
  try {
    update = await request.json();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    log.warning("A request of the webhook is no JSON");
    return new Response(null, { status: 400 });
  }
  await receive([update]);
  return new Response(null);
}

/** In a time that says nothing of where they differ: digests are compared, whole. */
async function isSame(one: string, other: string): Promise<boolean> {
  const digest = async (text: string) =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const [a, b] = [await digest(one), await digest(other)];
  return a.reduce((difference, byte, at) => difference | (byte ^ b[at]!), 0) === 0;
}

/** Tries until Telegram has it; false where the channel was stopped first. */
async function setWebhook(
  { api, address: { url, secret }, say, clock, log }: WebhookDeps,
  signal: AbortSignal,
): Promise<boolean> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await api.call("setWebhook", {
        url,
        secret_token: secret,
        allowed_updates: ALLOWED_UPDATES,
      }, { signal });
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof TelegramFault)) throw error;
      if (error.kind === "login") throw new LoginRefusedError(error.message);
      if (error.kind === "rejected") {
        throw new Error(`webhookUrl is not taken: ${error.message}`);
      }
      const waitMs = Math.max(backoffMs(failures), error.retryAfterMs);
      say(`not connected: ${error.message}; again in ${Math.ceil(waitMs / 1_000)} s`);
      if (failures === 1) log.info("The webhook cannot be set", { reason: error.message });
      await sleep(waitMs, clock, signal);
    }
  }
  return false;
}

/** Whether it is still ours; it is not taken back from whoever has it now. */
async function look(
  { api, address: { url }, say, clock, log }: WebhookDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    const info = await api.call("getWebhookInfo", {}, { signal });
    if (info.url !== url) {
      const host = URL.parse(info.url ?? "")?.host;
      const who = host === undefined ? "has removed the webhook" : `has set the webhook to ${host}`;
      log.warning("Another program has taken the bot's updates", { host: host ?? "none" });
      return say(`another program ${who}: stop it, then switch this channel off and on`);
    }
    const failedMs = (info.last_error_date ?? 0) * 1_000;
    const isRecent = clock.now() - failedMs < RECENT_MS;
    say(isRecent ? `Telegram cannot deliver: ${info.last_error_message}` : undefined);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof TelegramFault)) throw error;
    if (error.kind === "login") throw new LoginRefusedError(error.message);
    say(`not connected: ${error.message}`);
  }
}
