import type { Answer } from "../api/client.ts";

type Channel = Answer<"channels.list">["channels"][number];

/** How the service is told of an account; that of a channel which has one alone has no id. */
export function namedInstance(
  { name, multi_instance }: Channel,
  { id }: Channel["instances"][number],
): { name: string; instance_id?: string } {
  return multi_instance ? { name, instance_id: id } : { name };
}
