/**
 * What has to be known of the server and of ourselves before anything is heard or said.
 *
 * @module
 */

import { failedCall, noAnswer } from "../../../lib/channel/platform/mod.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { isId } from "../inbound/post.ts";

export interface ServerFacts {
  me: { id: string; username: string; isBot: boolean };
  /** Characters of a post. */
  maxRunes: number;
  /** Bytes of a file. */
  maxFileBytes: number;
  /** Whether a channel of that team is listened to; empty: of no team. */
  isOfTeam: (teamId: string) => boolean;
}

/** Of servers that do not say it: before version 5. */
const OLD_MAX_RUNES = 4_000;
/** A post is never made larger than this, whatever a server allows. */
const MAX_RUNES = 65_535;
const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Asks for them. Rejects as a call does, or with an error that names the setting to change. */
export async function serverFacts(
  client: Pick<MattermostClient, "getMe" | "getClientConfig" | "getTeamByName">,
  team: string,
): Promise<ServerFacts> {
  const me = await client.getMe();
  if (!isId(me?.id) || typeof me.username !== "string" || me.username === "") {
    throw new Error("This is no Mattermost server: its answer to who we are is another");
  }
  const config = await client.getClientConfig() as unknown as Record<string, unknown> | null;
  const teamId = team === "" ? undefined : await teamIdOf(client, team);
  const runes = Number(config?.MaxPostSize);
  const bytes = Number(config?.MaxFileSize);
  return {
    me: { id: me.id, username: me.username, isBot: (me as { is_bot?: boolean }).is_bot === true },
    maxRunes: runes >= OLD_MAX_RUNES ? Math.min(runes, MAX_RUNES) : OLD_MAX_RUNES,
    maxFileBytes: bytes > 0 ? Math.min(bytes, MAX_FILE_BYTES) : MAX_FILE_BYTES,
    // Direct messages belong to no team.
    isOfTeam: (id) => teamId === undefined || id === "" || id === teamId,
  };
}

async function teamIdOf(
  client: Pick<MattermostClient, "getTeamByName">,
  team: string,
): Promise<string> {
  try {
    const { id } = await client.getTeamByName(team);
    // Without it every team would be heard.
    if (!isId(id)) throw noAnswer("The server's answer is no team");
    return id;
  } catch (error) {
    if (![400, 403, 404].includes(failedCall(error)?.status ?? 0)) throw error;
    throw new Error(
      `The bot is in no team "${team}": add it to the team, or set team to its name in the address`,
    );
  }
}
