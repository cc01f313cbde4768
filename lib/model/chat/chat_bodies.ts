/**
 * Requests of chat completions as JSON. What is the same in every request of a conversation, its system
 * prompt and its tools, is written once.
 *
 * @module
 */

import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ModelRequest, ToolDescription } from "../port.ts";
import { toPrompt, toTools } from "../to_prompt.ts";
import type { ModelSettings } from "../wire.ts";
import { CALL_DATA } from "./chat_answer.ts";

/** What bodies are written for. */
export interface ChatBodiesDeps {
  /** The model's id at the provider. */
  id: string;
  /** `<provider>/<id>`. */
  name: string;
  settings: ModelSettings;
}

/** Writes the bodies of one model's requests. */
export class ChatBodies {
  readonly #name: string;
  readonly #head: string;
  readonly #tools = new WeakMap<readonly ToolDescription[], string>();
  #system = { text: "", json: "" };

  constructor({ id, name, settings: { temperature, maxOutputTokens } }: ChatBodiesDeps) {
    this.#name = name;
    const head = JSON.stringify({
      model: id,
      max_tokens: maxOutputTokens,
      temperature,
      stream: true,
      stream_options: { include_usage: true },
    });
    this.#head = head.slice(0, -1);
  }

  /** The JSON of a request. */
  of({ system, messages, tools }: Pick<ModelRequest, "system" | "messages" | "tools">): string {
    const prompt = toPrompt({ system: "", messages }, {
      type: "openai-compatible",
      model: this.#name,
    });
    const written = prompt.flatMap(toMessages).map((message) => JSON.stringify(message));
    if (system !== "") written.unshift(this.#systemJson(system));
    return `${this.#head},"messages":[${written}]${this.#toolsJson(tools)}}`;
  }

  #systemJson(text: string): string {
    if (this.#system.text !== text) {
      const json = JSON.stringify({ role: "system", content: text.toWellFormed() });
      this.#system = { text, json };
    }
    return this.#system.json;
  }

  #toolsJson(tools: readonly ToolDescription[]): string {
    if (tools.length === 0) return "";
    let json = this.#tools.get(tools);
    if (json === undefined) {
      const functions = toTools(tools).map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema },
      }));
      json = `,"tools":${JSON.stringify(functions)}`;
      this.#tools.set(tools, json);
    }
    return json;
  }
}

type Part<Role extends LanguageModelV4Message["role"]> = Extract<
  LanguageModelV4Message,
  { role: Role }
>["content"][number];

/** A message of a prompt; of the results of a step one each. */
function toMessages(message: LanguageModelV4Message): unknown[] {
  switch (message.role) {
    case "user": {
      const content = message.content.map(toContent);
      const [first] = content;
      // All that some servers take.
      const isText = content.length === 1 && first?.type === "text";
      return [{ role: "user", content: isText ? first.text : content }];
    }
    case "assistant":
      return [toAnswer(message.content)];
    case "tool":
      return message.content.map(toResult);
    case "system":
      return [{ role: "system", content: message.content }];
  }
}

function toContent(part: Part<"user">) {
  if (part.type === "text") return { type: "text" as const, text: part.text };
  const { mediaType, data } = part;
  if (data.type !== "data" || typeof data.data !== "string") {
    throw new TypeError(`Cannot send a file as ${data.type}: expected base64`);
  }
  const url = `data:${mediaType};base64,${data.data}`;
  return { type: "image_url" as const, image_url: { url } };
}

function toAnswer(content: readonly Part<"assistant">[]) {
  let text = "";
  let reasoning = "";
  const calls: unknown[] = [];
  for (const part of content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "reasoning") reasoning += part.text;
    else if (part.type === "tool-call") calls.push(toCall(part));
  }
  return {
    role: "assistant",
    content: calls.length > 0 ? text || null : text,
    ...reasoning !== "" && { reasoning_content: reasoning },
    ...calls.length > 0 && { tool_calls: calls },
  };
}

function toCall(part: Extract<Part<"assistant">, { type: "tool-call" }>) {
  const { toolCallId: id, toolName: name, input, providerOptions = {} } = part;
  const signature = providerOptions[CALL_DATA]?.thoughtSignature ??
    providerOptions.google?.thoughtSignature;
  return {
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
    // Google's models want it back.
    ...signature && { extra_content: { google: { thought_signature: String(signature) } } },
  };
}

function toResult(part: Part<"tool">) {
  if (part.type !== "tool-result" || !("value" in part.output)) {
    throw new TypeError(`Cannot send ${part.type}: expected the text of a result`);
  }
  return { role: "tool", tool_call_id: part.toolCallId, content: part.output.value };
}
