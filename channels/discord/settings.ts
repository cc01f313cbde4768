import type { SectionOf } from "../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { error } from "../../lib/channel/setup/findings.ts";
import type manifest from "./manifest.ts";

/** The section, as the manifest describes it. */
export type DiscordConfig = SectionOf<typeof manifest>;

/** The token alone, as a person may copy it with the word before it. */
export function tokenOf({ token }: { readonly token?: unknown }): string {
  return String(token).trim().replace(/^Bot\s+/, "");
}

/** What is wrong with it, without asking Discord. */
export function problemsOf(section: { readonly token?: unknown }): SetupFinding[] {
  // What a person copies beside it would be sent as a header that is none.
  return /\s/.test(tokenOf(section))
    ? [error("token", "token is wrong: expected the token alone, without blanks")]
    : [];
}
