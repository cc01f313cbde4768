import type { RecordedRequest } from "../fakes/model_server.ts";

/** The messages that a model was sent on the chat wire: roles and first texts, no system prompt. */
export function conversation({ body }: RecordedRequest): [role: string, text: string][] {
  const messages: { role: string; content: string | { text: string }[] }[] = body.messages;
  return messages.filter(({ role }) => role !== "system")
    .map(({ role, content }) => [role, typeof content === "string" ? content : content[0]!.text]);
}
