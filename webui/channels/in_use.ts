import type { Answer } from "../api/client.ts";

type Channel = Answer<"channels.list">["channels"][number];
type Account = Channel["instances"][number];

/** Of a switch, which says nothing of what was set. */
const SWITCH = "enabled";

/** Whether somebody switched it on or set something of it, or something is wrong with it. */
export function isInUse(
  { enabled, problem, configured_fields }: Pick<
    Account,
    "enabled" | "problem" | "configured_fields"
  >,
): boolean {
  return enabled || problem !== undefined || configured_fields.some((field) => field !== SWITCH);
}

/** The accounts of a channel that are in use. */
export function accountsInUse({ instances }: Channel): Account[] {
  return instances.filter(isInUse);
}
