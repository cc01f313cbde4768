/**
 * The section of the channel, and what its modes need.
 *
 * @module
 */

import type { SectionOf } from "../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { error } from "../../lib/channel/setup/findings.ts";
import type manifest from "./manifest.ts";

/** The section, as the manifest describes it. */
export type SlackConfig = SectionOf<typeof manifest>;

/** The address of the Web API with a slash at its end, as the SDK takes it. */
export function webApi(apiUrl: string): URL {
  return new URL(`${apiUrl}/`);
}

/** What the mode needs and is not set. */
export function problemsOf(
  { mode, appToken, signingSecret }: Readonly<Record<string, unknown>>,
): SetupFinding[] {
  if (mode === "http") {
    return signingSecret
      ? []
      : [error("signingSecret", "signingSecret is not set: Basic Information, App Credentials")];
  }
  return appToken
    ? []
    : [error("appToken", "appToken is not set: Basic Information, App-Level Tokens, Generate")];
}
