/**
 * Looks at the settings of a bot, and asks Telegram who it is.
 * Changes nothing there.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { warning } from "../../lib/channel/setup/findings.ts";
import { askPlatform } from "../../lib/channel/platform/mod.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { TelegramApi } from "./api/telegram_api.ts";
import { problemsOf } from "./settings.ts";

/** How long Telegram has for an answer, milliseconds. */
const PROBE_MS = 8_000;

/** The findings; none where everything is right. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const problems = problemsOf(values);
  if (problems.length > 0) return problems;
  const api = new TelegramApi({
    token: String(values.token),
    apiUrl: String(values.apiUrl),
    clock: systemClock,
  });
  const options = { signal, timeoutMs: PROBE_MS };
  return await askPlatform({ login: "token", address: "apiUrl" }, async (found) => {
    const me = await api.call("getMe", {}, options);
    if (values.respond === "all" && !me.can_read_all_group_messages) {
      found.push(warning(
        "respond",
        "respond is all, and Telegram gives the bot only what is addressed to it: turn privacy off " +
          "with /setprivacy at @BotFather, then add the bot to its groups again",
      ));
    }
    if (!me.can_join_groups) {
      found.push(warning(
        "token",
        "The bot cannot be added to groups: /setjoingroups at @BotFather allows that",
      ));
    }
    const { url } = await api.call("getWebhookInfo", {}, options);
    const other = URL.parse(url ?? "")?.host;
    if (values.mode !== "webhook" && other !== undefined) {
      found.push(warning(
        "mode",
        `Another program may use this bot: a webhook to ${other} is set, and is removed when this ` +
          "channel starts",
      ));
    }
    if (values.mode === "webhook" && !String(values.webhookUrl).startsWith("https:")) {
      const message = "webhookUrl is not https: Telegram itself takes no other";
      found.push(warning("webhookUrl", message));
    }
  });
}
