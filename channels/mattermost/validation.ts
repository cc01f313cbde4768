/**
 * Looks at the settings of Mattermost, and asks the server who we are. Writes nothing.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, isLocalHost, warning } from "../../lib/channel/setup/findings.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { failedCall, reasonOf } from "../../lib/channel/platform/mod.ts";
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

async function probe(settings: MattermostConfig, signal: AbortSignal): Promise<SetupFinding[]> {
  const { url, token, caFile } = settings;
  const team = teamOf(settings);
  let httpClient: Deno.HttpClient | undefined;
  try {
    httpClient = await openHttpClient(caFile);
  } catch (failure) {
    return [error("caFile", failure instanceof Error ? failure.message : String(failure))];
  }
  const client = new MattermostClient({ url, token, httpClient, clock: systemClock, signal });
  const findings: SetupFinding[] = [];
  try {
    const me = await client.getMe() as { id?: unknown; is_bot?: boolean };
    if (typeof me?.id !== "string") {
      return [error("url", `${url} does not answer as a Mattermost server`)];
    }
    if (me.is_bot !== true) {
      findings.push(warning(
        "token",
        "token is that of a person: what it writes is that person's. Make a bot account under " +
          "Integrations > Bot Accounts",
      ));
    }
    const teams = await client.getMyTeams();
    if (teams.length === 0) {
      findings.push(warning(
        "team",
        "The bot is in no team yet: invite it under Invite People, then add it to its channels",
      ));
    }
    if (team !== "" && !teams.some(({ name }) => name === team)) {
      const names = teams.map(({ name }) => name).slice(0, 10).join(", ");
      findings.push(error("team", `The bot is in no team "${team}"; it is in: ${names || "none"}`));
    }
    return findings;
  } catch (failure) {
    return [...findings, findingOf(failure, url)];
  } finally {
    httpClient?.close();
  }
}

function findingOf(failure: unknown, url: string): SetupFinding {
  const { status } = failedCall(failure) ?? {};
  const message = reasonOf(failure);
  if (status === 401) {
    return error("token", "The server refuses the token: it is wrong, or was revoked");
  }
  if (status === 403) {
    return error(
      "token",
      `The bot may not do that: ${message}. Look at its role under Integrations > Bot Accounts`,
    );
  }
  if (status === 404) return error("url", `${url} does not answer as a Mattermost server`);
  return warning("url", `${url} cannot be used now: ${message}`);
}
