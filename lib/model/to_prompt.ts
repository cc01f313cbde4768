/**
 * Our messages as the providers' packages take them.
 *
 * @module
 */

import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { PromptMessage, PromptPart, ToolCall } from "../contract/messages.ts";
import type { ModelRequest, ToolDescription } from "./port.ts";
import type { ProviderType } from "./provider_spec.ts";
import { readReplay } from "./replay.ts";
import { wellFormed } from "./well_formed.ts";

/** Who is going to read the prompt. */
export interface PromptReader {
  type: ProviderType;
  /** `<provider>/<id>`. */
  model: string;
}

type UserContent = (LanguageModelV4TextPart | LanguageModelV4FilePart)[];
type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** Anthropic caches what stands before such a mark; four are allowed in a request. */
const CACHE_HERE: SharedV4ProviderOptions = {
  anthropic: { cacheControl: { type: "ephemeral" } },
};

/** Stands before what the agent said when nobody had said anything. */
const NOBODY_SPOKE = "[Nobody has written here yet. What follows was sent to this chat by you.]";

/** What OpenAI and Anthropic take as the id of a call. */
const PORTABLE_ID = /^[A-Za-z0-9_-]{1,40}$/;

/**
 * The prompt of a request. Deterministic, so that a longer conversation begins with the same bytes
 * and the provider's cache hits. Neighbouring messages of one role become one, because the templates
 * of many open models insist on roles that alternate, and a person begins.
 */
export function toPrompt(
  { system, messages }: Pick<ModelRequest, "system" | "messages">,
  reader: PromptReader,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  const ids = new CallIds(reader.type);
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case "user":
        addUser(prompt, message.parts.map(userPart));
        break;
      case "summary":
        addUser(prompt, [{ type: "text", text: summaryText(message.text) }]);
        break;
      case "assistant": {
        const content = assistantContent(message, reader, ids, index > lastUser);
        addAssistant(prompt, content);
        break;
      }
      case "tool":
        prompt.push({
          role: "tool",
          content: message.results.map(({ callId, tool, output, failed }) => ({
            type: "tool-result",
            toolCallId: ids.of(callId),
            toolName: tool,
            output: { type: failed ? "error-text" : "text", value: output.toWellFormed() },
          })),
        });
        break;
      default:
        message satisfies never;
    }
  }
  if (system !== "") prompt.unshift({ role: "system", content: system.toWellFormed() });
  if (reader.type === "anthropic") markForCache(prompt);
  return prompt;
}

/** Our tools as the packages take them. */
export function toTools(tools: readonly ToolDescription[]): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description: description.toWellFormed(),
    inputSchema: wellFormed(parameters) as LanguageModelV4FunctionTool["inputSchema"],
  }));
}

function summaryText(text: string): string {
  return "This is a summary of the earlier conversation, which it replaces:\n\n" +
    text.toWellFormed();
}

function userPart(part: PromptPart): UserContent[number] {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text.toWellFormed() };
    case "image":
      return {
        type: "file",
        mediaType: part.mediaType,
        data: { type: "data", data: part.data },
      };
  }
}

function addUser(prompt: LanguageModelV4Prompt, parts: UserContent): void {
  const previous = prompt.at(-1);
  const content: UserContent = previous?.role === "user" ? previous.content : [];
  for (const part of parts) {
    if (part.type === "text" && part.text === "") continue;
    const last = content.at(-1);
    // One text stays a plain string on the wire, which is all that some servers take.
    if (part.type === "text" && last?.type === "text") last.text += `\n\n${part.text}`;
    else content.push(part);
  }
  if (previous?.role !== "user" && content.length > 0) prompt.push({ role: "user", content });
}

/** Messages from elsewhere stand beside answers, and before what a person says first. */
function addAssistant(prompt: LanguageModelV4Prompt, content: AssistantContent): void {
  if (content.length === 0) return;
  const isSaid = content.every(({ type }) => type === "text");
  if (prompt.length === 0 && isSaid) addUser(prompt, [{ type: "text", text: NOBODY_SPOKE }]);
  const previous = prompt.at(-1);
  const last = previous?.role === "assistant" ? previous.content.at(-1) : undefined;
  const [first, ...rest] = content;
  if (previous?.role === "assistant" && last?.type === "text" && first?.type === "text") {
    // What a model said is given back as it was, so no part of it is written into.
    const joined = { ...last, text: `${last.text}\n\n${first.text}` };
    prompt[prompt.length - 1] = {
      ...previous,
      content: [...previous.content.slice(0, -1), joined, ...rest],
    };
  } else {
    prompt.push({ role: "assistant", content });
  }
}

function assistantContent(
  message: Extract<PromptMessage, { role: "assistant" }>,
  reader: PromptReader,
  ids: CallIds,
  inThisTurn: boolean,
): AssistantContent {
  const content: AssistantContent = [];
  const replay = readReplay(message.replay, reader.model);
  for (const { text, data } of replay?.reasoning ?? []) {
    content.push({ type: "reasoning", text: text.toWellFormed(), providerOptions: data });
  }
  // Models behind chat completions that reason between calls want it back until the turn is over.
  if (
    content.length === 0 && reader.type === "openai-compatible" && inThisTurn && message.reasoning
  ) {
    content.push({ type: "reasoning", text: message.reasoning.toWellFormed() });
  }
  if (message.text !== "") content.push({ type: "text", text: message.text.toWellFormed() });
  for (const call of message.calls) {
    content.push({
      type: "tool-call",
      toolCallId: ids.of(call.callId),
      toolName: call.tool,
      input: callInput(call),
      ...(replay?.calls?.[call.callId] && { providerOptions: replay.calls[call.callId] }),
    });
  }
  // Reasoning alone, of an answer that was cut off, is nothing that a provider takes.
  return content.every(({ type }) => type === "reasoning") ? [] : content;
}

/** Arguments have to be an object on every wire, also those that a model got wrong. */
function callInput({ args }: ToolCall): unknown {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return wellFormed(isObject ? args : { invalid_arguments: args });
}

/** The system prompt, the message that opened the turn, and the last message. */
function markForCache(prompt: LanguageModelV4Prompt): void {
  const marked = new Set([
    prompt.findIndex(({ role }) => role === "system"),
    prompt.findLastIndex(({ role }) => role === "user"),
    prompt.length - 1,
  ]);
  for (const index of marked) {
    const message = prompt[index];
    if (message !== undefined) message.providerOptions = CACHE_HERE;
  }
}

/** Ids of calls that the reader takes: those of another provider may hold what it refuses. */
class CallIds {
  readonly #type: ProviderType;
  readonly #renamed = new Map<string, string>();

  constructor(type: ProviderType) {
    this.#type = type;
  }

  of(callId: string): string {
    if (this.#type === "openai-compatible" || PORTABLE_ID.test(callId)) return callId;
    const known = this.#renamed.get(callId);
    if (known !== undefined) return known;
    const renamed = `renamed_call_${this.#renamed.size + 1}`;
    this.#renamed.set(callId, renamed);
    return renamed;
  }
}
