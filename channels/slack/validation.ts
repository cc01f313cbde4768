/**
 * Looks at the settings of a workspace, and asks Slack about its tokens. Writes nothing; opens no connection.
 *
 * @module
 */

import { systemClock } from "../../lib/base/clock.ts";
import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, warning } from "../../lib/channel/setup/findings.ts";
import { askPlatform } from "../../lib/channel/platform/mod.ts";
import { WebClient } from "@slack/web-api";
import { clientOptions } from "./api/slack_api.ts";
import { refusedAs, slackFault } from "./api/slack_faults.ts";
import { BOT_SCOPES } from "./app_manifest.ts";
import { problemsOf, webApi } from "./settings.ts";

/** The findings; none where everything is right. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const { mode, botToken, appToken, signingSecret } = values;
  const findings = [
    ...checkPrefix("botToken", botToken, "xoxb-"),
    ...checkPrefix("appToken", appToken, "xapp-"),
    ...problemsOf(values),
  ];
  if (findings.length > 0) return findings;
  if (mode === "http" && !/^[0-9a-f]{32}$/.test(String(signingSecret))) {
    findings.push(warning("signingSecret", "signingSecret has not the form that Slack's have"));
  }
  const ask = { apiUrl: webApi(String(values.apiUrl)), clock: systemClock, signal };
  if (isText(botToken)) findings.push(...await probeBot(botToken, ask));
  if (mode !== "http" && isText(appToken)) findings.push(...await probeApp(appToken, ask));
  return findings;
}

type Ask = Parameters<typeof clientOptions>[0];

function probeBot(token: string, ask: Ask): Promise<SetupFinding[]> {
  return askPlatform({ login: "botToken", address: "apiUrl" }, async (found) => {
    const answer = await new WebClient(token, clientOptions(ask)).auth.test().catch((problem) => {
      throw slackFault(problem, "auth.test");
    });
    if (answer.bot_id === undefined) {
      const message = "botToken is a person's: expected the Bot User OAuth Token";
      return void found.push(error("botToken", message));
    }
    // Slack says them in a header of every answer.
    const scopes = answer.response_metadata?.scopes;
    const missing = BOT_SCOPES.filter((scope) => scopes?.includes(scope) === false);
    if (missing.length === 0) return;
    found.push(error(
      "botToken",
      `The app lacks ${
        missing.join(", ")
      }: add them under OAuth & Permissions, Bot Token Scopes, ` +
        "and install the app again",
    ));
  });
}

function probeApp(token: string, ask: Ask): Promise<SetupFinding[]> {
  return askPlatform({ login: "appToken", address: "apiUrl" }, async (found) => {
    try {
      // It only names an address; nothing connects there.
      await new WebClient(token, clientOptions(ask)).apps.connections.open({});
    } catch (problem) {
      const fault = slackFault(problem, "apps.connections.open", "appToken");
      if (refusedAs(fault) !== "missing_scope") throw fault;
      const message = "appToken lacks connections:write: Basic Information, App-Level Tokens, " +
        "make one with it";
      found.push(error("appToken", message));
    }
  });
}

function checkPrefix(field: string, value: unknown, prefix: string): SetupFinding[] {
  if (!isText(value) || value.startsWith(prefix)) return [];
  return [error(field, `${field} is another token: expected one that begins with ${prefix}`)];
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
