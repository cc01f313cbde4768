/**
 * Looks at the settings of a bot, and asks Telegram who it is.
 * Changes nothing there.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, warning } from "../../lib/channel/setup/findings.ts";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { reasonOf } from "../../lib/channel/platform/mod.ts";
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
  const findings: SetupFinding[] = [];
  try {
    const options = { signal, timeoutMs: PROBE_MS };
    const me = await api.call("getMe", {}, options);
    if (values.respond === "all" && !me.can_read_all_group_messages) {
      findings.push(warning(
        "respond",
        "respond is all, and Telegram gives the bot only what is addressed to it: turn privacy off " +
          "with /setprivacy at @BotFather, then add the bot to its groups again",
      ));
    }
    if (!me.can_join_groups) {
      findings.push(warning(
        "token",
        "The bot cannot be added to groups: /setjoingroups at @BotFather allows that",
      ));
    }
    findings.push(...await webhookFindings(api, values, options));
    return findings;
  } catch (reason) {
    if (reason instanceof LoginRefusedError) {
      return [error(
        "token",
        "Telegram does not know the token: copy it again from @BotFather (/mybots, API Token)",
      )];
    }
    const said = signal.aborted ? "no answer in time" : reasonOf(reason);
    return [...findings, warning("apiUrl", `The bot cannot be looked at now: ${said}`)];
  }
}

async function webhookFindings(
  api: TelegramApi,
  { mode, webhookUrl }: Readonly<Record<string, unknown>>,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<SetupFinding[]> {
  const { url } = await api.call("getWebhookInfo", {}, options);
  const host = URL.parse(url ?? "")?.host;
  if (mode === "webhook") {
    const isPlain = !String(webhookUrl).startsWith("https:");
    return isPlain
      ? [warning("webhookUrl", "webhookUrl is not https: Telegram itself takes no other")]
      : [];
  }
  return host === undefined ? [] : [warning(
    "mode",
    `Another program may use this bot: a webhook to ${host} is set, and is removed when this ` +
      "channel starts",
  )];
}
