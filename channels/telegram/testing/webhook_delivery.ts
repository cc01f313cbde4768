/**
 * How Telegram posts updates to a webhook: one after the other, again until it is answered with a status
 * of success.
 *
 * @module
 */

import type { BotApi } from "./bot_api.ts";

const AGAIN_MS = 20;

const running = new WeakSet<BotApi>();

/** Delivers all that wait. Ends when there are none, or the webhook is gone. */
export async function deliverToWebhook(api: BotApi, ended: AbortSignal): Promise<void> {
  if (running.has(api)) return;
  running.add(api);
  try {
    for (;;) {
      const update = api.queue.first();
      const { webhook } = api;
      if (update === undefined || webhook === undefined || ended.aborted) return;
      const { origin, pathname } = new URL(webhook.url);
      const url = (api.proxies.get(origin) ?? origin) + pathname;
      const status = await post({ ...webhook, url }, update);
      if (status === 200) api.queue.take(update);
      else {
        const message = `Wrong response from the webhook: ${status}`;
        api.webhookFailure = { date: Math.floor(Date.now() / 1_000), message };
        await new Promise((again) => setTimeout(again, AGAIN_MS));
      }
    }
  } finally {
    running.delete(api);
  }
}

async function post({ url, secret }: { url: string; secret: string }, update: unknown) {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...secret !== "" && { "x-telegram-bot-api-secret-token": secret },
      },
      body: JSON.stringify(update),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}
