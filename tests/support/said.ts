import type { RecordedRequest } from "../fakes/model_server.ts";

/** What a person said last, as it came to the model. */
export function said({ body }: RecordedRequest): string {
  const { content } = body.messages.findLast(({ role }: { role: string }) => role === "user");
  return typeof content === "string" ? content : content.at(-1).text;
}
