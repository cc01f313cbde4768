/**
 * Looks at the settings of Mattermost, and asks the server who we are. Writes nothing.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, isLocalHost, warning } from "../../lib/channel/setup/findings.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { askPlatform } from "../../lib/channel/platform/mod.ts";
import { MattermostClient } from "./api/mattermost_client.ts";
import { openHttpClient } from "./api/open_http_client.ts";
import { type MattermostConfig, teamOf } from "./settings.ts";

/** The findings; none where everything is right. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const settings = values as unknown as MattermostConfig;
  const findings: SetupFinding[] = [];
  const { hostname } = new URL(settings.url);
  if (
    settings.actionsHost !== "" && settings.actionsUrl === "" && !isLocalHost(hostname)
  ) {
    findings.push(warning(
      "actionsUrl",
      "actionsUrl is not set: clicks arrive only where the server reaches actionsHost itself",
    ));
  }
  return [...findings, ...await probe(settings, signal)];
}

function probe(settings: MattermostConfig, signal: AbortSignal): Promise<SetupFinding[]> {
  const { url, token, caFile } = settings;
  return askPlatform({ login: "token", address: "url" }, async (found) => {
    const httpClient = await openHttpClient(caFile);
    try {
      const client = new MattermostClient({ url, token, httpClient, clock: systemClock, signal });
      await look(client, settings, found);
    } finally {
      httpClient?.close();
    }
  });
}

async function look(
  client: MattermostClient,
  settings: MattermostConfig,
  found: SetupFinding[],
): Promise<void> {
  const me = await client.getMe() as { id?: unknown; is_bot?: boolean };
  if (typeof me?.id !== "string") {
    return void found.push(error("url", `${settings.url} does not answer as a Mattermost server`));
  }
  if (me.is_bot !== true) {
    found.push(warning(
      "token",
      "token is that of a person: what it writes is that person's. Make a bot account under " +
        "Integrations > Bot Accounts",
    ));
  }
  const teams = await client.getMyTeams();
  if (teams.length === 0) {
    found.push(warning(
      "team",
      "The bot is in no team yet: invite it under Invite People, then add it to its channels",
    ));
  }
  const team = teamOf(settings);
  if (team !== "" && !teams.some(({ name }) => name === team)) {
    const names = teams.map(({ name }) => name).slice(0, 10).join(", ");
    found.push(error("team", `The bot is in no team "${team}"; it is in: ${names || "none"}`));
  }
}
