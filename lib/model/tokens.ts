import type { Message, PromptMessage } from "../contract/messages.ts";
import { markedText } from "../contract/text_part.ts";

/** Characters of text that make a token, about, over the tokenizers in use. */
const CHARACTERS_PER_TOKEN = 4;

/** Tokens of an image, whatever its size: providers scale images down to a bounded number of tiles. */
const TOKENS_PER_IMAGE = 1_000;

/**
 * Estimated tokens of a message as a model is given it, at least 1. Good enough to decide when to
 * compact; what a turn really used comes from the provider. Arguments of calls count as their JSON.
 */
export function estimateTokens(message: Message | PromptMessage): number {
  let characters = 0;
  let images = 0;
  switch (message.role) {
    case "user":
      for (const part of message.parts) {
        if (part.type === "image") images++;
        else if (part.type === "text") characters += markedText(part).length;
        else characters += part.text.length;
      }
      break;
    case "assistant":
      characters += message.text.length + (message.reasoning?.length ?? 0);
      for (const call of message.calls) {
        characters += call.tool.length + (JSON.stringify(call.args)?.length ?? 0);
      }
      break;
    case "tool":
      for (const result of message.results) {
        characters += result.tool.length + result.output.length;
      }
      break;
    case "summary":
      characters += message.text.length;
      break;
  }
  const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE;
  return Math.max(1, tokens);
}
