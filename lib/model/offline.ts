/**
 * The built-in model that needs no key and no network. It says what it is, answers in a fixed way,
 * and calls a tool when told to, so that everything around a model can be tried without one.
 *
 * @module
 */

import type { PromptMessage, PromptPart } from "../contract/messages.ts";
import type { Model, ModelEvent, ModelRequest, ToolDescription } from "./port.ts";

/** Its name, in `agent.model` and everywhere else. */
export const OFFLINE = "offline";

/** Makes the model. */
export function createOfflineModel({ contextTokens }: { contextTokens: number }): Model {
  return { name: OFFLINE, contextTokens, stream };
}

async function* stream(request: ModelRequest): AsyncGenerator<readonly ModelEvent[]> {
  const { signal } = request;
  const answer = answerTo(request);
  let outputTokens = 0;
  for (const event of answer) {
    signal.throwIfAborted();
    outputTokens += tokensOf(event.type === "text" ? event.text : JSON.stringify(event.call));
    yield [event];
    // Gives others a turn, as the network would: readers see the pieces one by one.
    await Promise.resolve();
  }
  yield [{
    type: "finish",
    model: OFFLINE,
    reason: "stop",
    usage: { inputTokens: inputTokens(request), outputTokens, reasoningTokens: 0, cachedTokens: 0 },
  }];
}

type Answer = Extract<ModelEvent, { type: "text" | "call" }>[];

function answerTo({ messages, tools }: ModelRequest): Answer {
  const last = messages.at(-1);
  if (last?.role === "tool") return pieces(reportOf(last));
  const said = lastUserText(messages);
  const command = said.match(/^\/tool(?:\s+([\s\S]*))?$/);
  if (command !== null) return callOf((command[1] ?? "").trim(), messages, tools);
  return pieces(introduction(said, tools));
}

function introduction(said: string, tools: readonly ToolDescription[]): string {
  const example = tools.some(({ name }) => name === "list_files")
    ? "`/tool list_files {}`"
    : "`/tool <name> <json>`";
  const lines = [
    "I am the built-in offline model: a fixed answer without a network or a key, here so that " +
    "everything else can be tried.",
    said === "" ? "" : `You said: ${shortened(said)}`,
    "To talk to a real model, run `service onboard`, or set OPENAI_API_KEY or ANTHROPIC_API_KEY " +
    "and start again.",
    `To see a tool run, say ${example}. ${listOf(tools)}`,
  ];
  return lines.filter((line) => line !== "").join("\n\n");
}

function callOf(
  command: string,
  messages: readonly PromptMessage[],
  tools: readonly ToolDescription[],
): Answer {
  const [, name = "", json = ""] = command.match(/^(\S*)\s*([\s\S]*)$/) ?? [];
  const expected = "I expected `/tool <name> <json>`, the arguments being a JSON object";
  if (name === "") return pieces(`${expected}. ${listOf(tools)}`);
  if (!tools.some((tool) => tool.name === name)) {
    return pieces(`There is no tool "${shortened(name)}". ${expected}. ${listOf(tools)}`);
  }
  const args = parsedObject(json === "" ? "{}" : json);
  if (args === undefined) {
    return pieces(
      `The arguments of ${name} are not a JSON object: ${
        shortened(json)
      }\n\n${expected}, such as ` +
        "`{}`. " + parametersOf(name, tools),
    );
  }
  return [
    ...pieces(`Calling ${name}. `),
    { type: "call", call: { callId: freeCallId(messages), tool: name, args } },
  ];
}

function reportOf({ results }: Extract<PromptMessage, { role: "tool" }>): string {
  return results.map(({ tool, output, failed }) =>
    `${tool} ${failed ? "failed" : "answered"}:\n\n${output}`
  ).join("\n\n");
}

function listOf(tools: readonly ToolDescription[]): string {
  if (tools.length === 0) return "There are no tools here.";
  return `Tools: ${tools.map(({ name }) => name).join(", ")}.`;
}

function parametersOf(name: string, tools: readonly ToolDescription[]): string {
  const properties = tools.find((tool) => tool.name === name)?.parameters.properties;
  const names = typeof properties === "object" && properties !== null
    ? Object.keys(properties)
    : [];
  return names.length === 0 ? "It takes no arguments." : `It takes: ${names.join(", ")}.`;
}

function lastUserText(messages: readonly PromptMessage[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last?.role === "user" ? textOf(last.parts).trim() : "";
}

function textOf(parts: readonly PromptPart[]): string {
  return parts.map((part) => part.type === "text" ? part.text : "").filter((text) => text !== "")
    .join("\n");
}

function parsedObject(json: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** One number higher than the calls so far: two calls of a conversation never share an id. */
function freeCallId(messages: readonly PromptMessage[]): string {
  const calls = messages.flatMap((message) => message.role === "assistant" ? message.calls : []);
  const taken = new Set(calls.map(({ callId }) => callId));
  for (let number = calls.length + 1;; number++) {
    const callId = `offline_${number}`;
    if (!taken.has(callId)) return callId;
  }
}

function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 199).toWellFormed()}…`;
}

/** A few pieces, cut between words; a long text stays a few pieces. */
function pieces(text: string): Answer {
  const size = Math.max(60, Math.ceil(text.length / 20));
  const out: Answer = [];
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(" ", at + size);
    const end = space < 0 || space - at > 2 * size ? at + size : space + 1;
    // Never between the halves of a pair.
    const last = text.charCodeAt(end - 1);
    const cut = last >= 0xd800 && last < 0xdc00 ? end + 1 : end;
    out.push({ type: "text", text: text.slice(at, cut) });
    at = cut;
  }
  return out;
}

/** The usual estimate: four characters a token. */
function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

function inputTokens({ system, messages, tools }: ModelRequest): number {
  let characters = system.length + JSON.stringify(tools).length;
  for (const message of messages) {
    switch (message.role) {
      case "user":
        characters += textOf(message.parts).length;
        break;
      case "assistant":
        characters += message.text.length;
        for (const { args } of message.calls) characters += JSON.stringify(args)?.length ?? 0;
        break;
      case "tool":
        for (const { output } of message.results) characters += output.length;
        break;
      case "summary":
        characters += message.text.length;
        break;
    }
  }
  return Math.ceil(characters / 4);
}
