/**
 * Takes updates that Telegram posts. Each is answered when it is on the disk, so that Telegram gives again
 * what was lost on the way.
 *
 * @module
 */

import { createHash, timingSafeEqual } from "node:crypto";
import type { Update } from "grammy/types";
import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import { LoginRefusedError, PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { failedCall, reasonOf, sleep } from "../../../lib/channel/platform/mod.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import type { TelegramConfig } from "../settings.ts";
import { ALLOWED_UPDATES } from "./read_update.ts";

/** What it works with. */
export interface WebhookDeps {
  api: TelegramApi;
  config: Pick<TelegramConfig, "webhookUrl" | "webhookHost" | "webhookPort" | "webhookSecret">;
  host: Pick<ChannelHost, "listen" | "clock" | "log">;
  /** Resolves when the updates are on the disk. */
  receive: (updates: readonly Update[]) => Promise<void>;
  /** It is as it should be. */
  ready: () => void;
  /** How the connection is, while it is not. */
  say: (problem: string) => void;
}

/** Milliseconds between looks whether Telegram still posts to us. */
export const LOOK_MS = 5 * 60_000;

/** How long the last failure of Telegram's is worth a word, milliseconds. */
const RECENT_MS = 2 * LOOK_MS;

/**
 * Serves until the signal is aborted. The webhook stays set then: Telegram keeps for a day what it cannot
 * deliver. Rejects as a call does.
 */
export async function serveWebhook(deps: WebhookDeps, signal: AbortSignal): Promise<string> {
  const { config: { webhookHost, webhookPort: port, webhookUrl, webhookSecret }, host } = deps;
  const address = { host: webhookHost.trim(), port };
  const listener = await host.listen(address, (request) => answer(request, deps));
  try {
    await deps.api.call("setWebhook", {
      url: webhookUrl.trim(),
      secret_token: webhookSecret.trim(),
      allowed_updates: ALLOWED_UPDATES,
    }, { signal }).catch((error) => {
      if (!(error instanceof PermanentDeliveryError)) throw error;
      throw new PermanentDeliveryError(`webhookUrl is not taken: ${error.message}`);
    });
    deps.ready();
    for (;;) {
      await sleep(LOOK_MS, host.clock, signal);
      if (signal.aborted) return "";
      await look(deps, signal);
    }
  } finally {
    await listener.close();
  }
}

/** One request. Whoever does not know the secret learns nothing. */
async function answer(
  request: Request,
  { config: { webhookUrl, webhookSecret }, receive, host: { log } }: WebhookDeps,
): Promise<Response> {
  if (new URL(request.url).pathname !== new URL(webhookUrl.trim()).pathname) {
    return new Response(null, { status: 404 });
  }
  if (request.method !== "POST") {
    return new Response(null, { status: 405, headers: { allow: "POST" } });
  }
  const given = request.headers.get("x-telegram-bot-api-secret-token") ?? "";
  if (!isSame(given, webhookSecret.trim())) return new Response(null, { status: 401 });
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
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** Whether it is still ours; it is not taken back from whoever has it now. */
async function look(
  { api, config, ready, say, host: { clock, log } }: WebhookDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    const info = await api.call("getWebhookInfo", {}, { signal });
    if (info.url !== config.webhookUrl.trim()) {
      const host = URL.parse(info.url ?? "")?.host;
      const who = host === undefined ? "has removed the webhook" : `has set the webhook to ${host}`;
      log.warning("Another program has taken the bot's updates", { host: host ?? "none" });
      return say(`another program ${who}: stop it, then switch this channel off and on`);
    }
    const failedMs = (info.last_error_date ?? 0) * 1_000;
    const isRecent = clock.now() - failedMs < RECENT_MS;
    if (isRecent) say(`Telegram cannot deliver: ${info.last_error_message}`);
    else ready();
  } catch (error) {
    if (signal.aborted) return;
    if (failedCall(error) === undefined || error instanceof LoginRefusedError) throw error;
    say(`not connected: ${reasonOf(error)}`);
  }
}
