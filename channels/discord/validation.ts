/**
 * Looks at the settings of a bot, and asks Discord about them.
 * Writes nothing.
 *
 * @module
 */

import type { APIApplication } from "discord.js";
import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { askPlatform } from "../../lib/channel/platform/mod.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { error, warning } from "../../lib/channel/setup/findings.ts";
import { problemsOf, tokenOf } from "./settings.ts";
import { DiscordApi, isSnowflake } from "./rest/discord_api.ts";
import { DiscordRest } from "./rest/discord_rest.ts";

/** GATEWAY_MESSAGE_CONTENT, and that of a bot on fewer than 100 servers. */
const MAY_READ = (1 << 18) | (1 << 19);

/**
 * ADD_REACTIONS, VIEW_CHANNEL, SEND_MESSAGES, ATTACH_FILES, READ_MESSAGE_HISTORY, CREATE_PUBLIC_THREADS and
 * SEND_MESSAGES_IN_THREADS.
 */
const PERMISSIONS = "309237746752";

/** The findings; none where everything is right. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const findings = [...problemsOf(values), ...checkAllowFrom(values)];
  if (findings.some(({ level }) => level === "error")) return findings;
  const token = tokenOf(values);
  if (token === "") return findings;
  const rest = new DiscordRest({
    apiUrl: String(values.apiUrl),
    token,
    clock: systemClock,
    signal,
  });
  try {
    return [...findings, ...await ask(new DiscordApi(rest))];
  } finally {
    rest.close();
  }
}

function ask(api: DiscordApi): Promise<SetupFinding[]> {
  return askPlatform({ login: "token", address: "apiUrl" }, async (found) => {
    await api.me();
    const application = await api.application();
    found.push(...checkIntent(application));
    const guilds = await api.guilds(1);
    if (Array.isArray(guilds) && guilds.length === 0) {
      found.push(warning(
        "token",
        "The bot is on no server yet. Invite it: https://discord.com/oauth2/authorize?client_id=" +
          `${application.id}&scope=bot%20applications.commands&permissions=${PERMISSIONS}`,
      ));
    }
  });
}

function checkIntent({ flags }: APIApplication): SetupFinding[] {
  if ((Number(flags) & MAY_READ) !== 0) return [];
  return [error(
    "token",
    "The intent Message Content is off: switch it on in the developer portal " +
      "(discord.com/developers/applications, the application, Bot, Privileged Gateway Intents)",
  )];
}

function checkAllowFrom({ allowFrom }: Readonly<Record<string, unknown>>): SetupFinding[] {
  if (!Array.isArray(allowFrom)) return [];
  const wrong = allowFrom.find((id) => id !== "*" && !isSnowflake(id));
  return wrong === undefined ? [] : [warning(
    "allowFrom",
    `allowFrom has ${
      JSON.stringify(wrong)?.slice(0, 60)
    }, which is no id: they have 17 to 20 digits ` +
      "(Copy User ID, with the developer mode on)",
  )];
}
