/**
 * What a provider itself said about a failure, made fit to be shown.
 *
 * @module
 */

/** Characters of a provider's own message that are shown. */
const MAX_MESSAGE_CHARS = 500;

/** Shorter values are too likely to be words of the message. */
const MIN_SECRET_CHARS = 8;

/**
 * The message in an error body, whatever its shape: OpenAI's and Anthropic's envelopes, a bare
 * `error` or `detail`, or plain text. Empty when there is none, as in a page of HTML.
 */
export function messageOf(body: unknown): string {
  if (typeof body === "string") {
    const text = body.trim();
    if (text.startsWith("{") || text.startsWith("[")) {
      try {
        return messageOf(JSON.parse(text));
      } catch {
        return text;
      }
    }
    return text.startsWith("<") ? "" : text;
  }
  if (Array.isArray(body)) return body.map(messageOf).filter((text) => text !== "").join("; ");
  if (typeof body !== "object" || body === null) return "";
  for (const key of ["error", "message", "detail", "msg"]) {
    const message = messageOf((body as Record<string, unknown>)[key]);
    if (message !== "") return message;
  }
  return "";
}

/** One line of at most 500 characters, in which no secret is left. */
export function shownMessage(message: string, secrets: readonly string[]): string {
  let text = message;
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_CHARS) text = text.replaceAll(secret, "[secret]");
  }
  // deno-lint-ignore no-control-regex
  text = text.replace(/[\s\x00-\x1f\x7f-\x9f]+/g, " ").trim().replace(/\.$/, "").toWellFormed();
  return text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}

const OVERFLOW = new RegExp(
  [
    "context[_ ](length|window|size)[_ ]exceeded",
    "exceed_context_size",
    "(maximum|max|available|model'?s?) context (length|size|window)",
    "exceeds?( the)?( model'?s?)? (maximum |available )?context",
    "context (length|window|size|limit) (of|is|was|has been|exceeded)",
    "exceed context limit",
    "(prompt|input|request|message|messages) (is|are|was) too (long|large)( for|:|$)",
    "too many (input |prompt )?tokens",
    "(input|prompt) token count .*exceeds",
    "input tokens exceed",
    "reduce the length of the (messages|prompt|input)",
    "request_too_large",
  ].join("|"),
  "i",
);

/** Whether a failure means that the input does not fit into the model's context. */
export function isContextOverflow(status: number | undefined, said: string): boolean {
  if (status !== undefined && ![400, 413, 422, 500].includes(status)) return false;
  return OVERFLOW.test(said);
}
