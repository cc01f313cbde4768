import type { SectionOf } from "../../lib/channel/base_channel.ts";
import type manifest from "./manifest.ts";

/** The section, as the manifest describes it. */
export type MattermostConfig = SectionOf<typeof manifest>;

/** The name of the team as it stands in addresses; empty: all teams. */
export function teamOf({ team }: Pick<MattermostConfig, "team">): string {
  return team.replace(/^~/, "");
}
