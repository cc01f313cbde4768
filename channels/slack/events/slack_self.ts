/**
 * Who the app is in its workspace, as `auth.test` says it.
 *
 * @module
 */

import { type SlackAnswer, textOf } from "../api/slack_api.ts";

/** Empty where Slack does not say it. */
export interface SlackSelf {
  userId: string;
  userName: string;
  botId: string;
  teamId: string;
  teamName: string;
  /** Of an Enterprise organisation; its members have the same ids in all of its workspaces. */
  enterpriseId: string;
}

/** Throws where it is no answer of `auth.test` for an app. */
export function readSelf(answer: SlackAnswer): SlackSelf {
  const self = {
    userId: textOf(answer, "user_id"),
    userName: textOf(answer, "user"),
    botId: textOf(answer, "bot_id"),
    teamId: textOf(answer, "team_id"),
    teamName: textOf(answer, "team"),
    enterpriseId: textOf(answer, "enterprise_id"),
  };
  if (self.userId === "" || self.teamId === "") {
    throw new Error("Slack does not say who the app is");
  }
  return self;
}

/**
 * The id of somebody, as `allowFrom` has it: the member id, and for people of other workspaces, who are
 * there by Slack Connect, `<team>:<member id>`.
 */
export function senderIdOf(
  userId: string,
  teamId: string,
  self: Pick<SlackSelf, "teamId" | "enterpriseId">,
): string {
  const isOwn = teamId === "" || teamId === self.teamId || teamId === self.enterpriseId;
  return isOwn ? userId : `${teamId}:${userId}`;
}
