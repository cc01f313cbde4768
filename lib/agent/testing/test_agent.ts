/**
 * The whole agent over a journal in memory, with fake ports.
 *
 * @module
 */

import type { ActionPort, ActionRequest, ActionResult } from "../../contract/actions.ts";
import { type Config, configSchema } from "../../config/schema.ts";
import { openJournal } from "../../journal/open.ts";
import type { Journal } from "../../contract/journal.ts";
import { ServiceError } from "../../base/errors.ts";
import type { LogFields } from "../../base/log.ts";
import type { Model } from "../../model/port.ts";
import { AgentTurns, type AgentTurnsDeps } from "../agent_turns.ts";
import type { AgentEvent, StoredEvent } from "../../contract/events.ts";
import type { AgentTool } from "../toolbox.ts";
import type { TurnHandle, TurnRequest } from "../../contract/turns.ts";
import { type FakeClock, fakeClock } from "./fake_clock.ts";
import { type MemoryMedia, memoryMedia } from "./memory_media.ts";
import { type OperateAsSender, operationCommands } from "../../operations/chat_commands.ts";
import { scriptedModel } from "./scripted_model.ts";

/** What a test may set; the rest has defaults. */
export interface TestAgentOptions {
  model?: Model;
  /** Further models by name. */
  models?: Record<string, Model>;
  /** Instead of both. */
  source?: AgentTurnsDeps["models"];
  act?: ActionPort["act"];
  tools?: readonly AgentTool[];
  /** Section `agent` of the configuration. */
  agent?: Record<string, unknown>;
  instructions?: () => Promise<string>;
  moreTools?: AgentTurnsDeps["moreTools"];
  operate?: OperateAsSender;
  journal?: Journal;
  /** Default: one that knows no secret. */
  scrubber?: AgentTurnsDeps["scrubber"];
  /** What ids begin with; another one for a second agent over the same journal. */
  idPrefix?: string;
  maxInputChars?: number;
  maxLoadedImageBytes?: number;
}

/** The agent and what it is made of. */
export interface TestAgent {
  turns: AgentTurns;
  journal: Journal;
  media: MemoryMedia;
  clock: FakeClock;
  /** Actions that were asked for. */
  acts: ActionRequest[];
  /** Turns that were said to act no more. */
  ended: string[];
  /** Lines of the log of level warning and error. */
  logs: { message: string; fields?: LogFields }[];
  /** Submits a turn in the session `test:one` unless told. */
  submit(text: string, request?: Partial<TurnRequest>): Promise<TurnHandle>;
  /** Submits a turn and returns its events once it has ended. */
  ask(text: string, request?: Partial<TurnRequest>): Promise<AgentEvent[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A tool that answers with nothing but its name as hint. */
export function testTool(name: string, overrides: Partial<AgentTool> = {}): AgentTool {
  return {
    name,
    description: `The tool ${name}`,
    parameters: { type: "object" },
    readOnly: true,
    capability: "fs.read",
    hint: () => `${name}!`,
    ...overrides,
  };
}

/** A tool that reads, one that writes, one that fetches. */
export const TEST_TOOLS: readonly AgentTool[] = [
  testTool("read"),
  testTool("write", { readOnly: false, capability: "fs.write" }),
  testTool("fetch", { capability: "net.fetch" }),
];

/** A configuration with this section `agent`. */
export function agentConfig(agent: Record<string, unknown> = {}): Config {
  return configSchema.parse({ agent });
}

/** Builds an agent. Dispose of it at the end of the test. */
export function testAgent(options: TestAgentOptions = {}): TestAgent {
  const journal = options.journal ?? openJournal({ path: ":memory:" });
  const media = memoryMedia();
  const clock = fakeClock();
  const acts: ActionRequest[] = [];
  const logs: TestAgent["logs"] = [];
  const ended: string[] = [];
  const act = options.act ??
    ((request) => Promise.resolve<ActionResult>({ status: "ok", output: `${request.tool} done` }));
  const note = (message: string, fields?: LogFields) => void logs.push({ message, fields });
  const config = agentConfig(options.agent);
  let ids = 0;
  const turns = new AgentTurns({
    journal,
    media,
    models: options.source ?? {
      default: options.model ?? scriptedModel(),
      pick(name) {
        const found = options.models?.[name];
        if (found === undefined) throw new Error(`No model ${name}`);
        return found;
      },
    },
    actions: {
      act(request, how) {
        acts.push(request);
        return act(request, how);
      },
      turnEnded: (turnId) => void ended.push(turnId),
    },
    tools: options.tools ?? TEST_TOOLS,
    config: () => config,
    instructions: options.instructions ?? (() => Promise.resolve("")),
    moreTools: options.moreTools,
    operationCommands: () => Promise.resolve(operationCommands(options.operate ?? refuse)),
    scrubber: options.scrubber ?? { text: (text) => text, value: (value) => value },
    log: { debug: () => {}, info: () => {}, warning: note, error: note },
    clock,
    randomId: () => `${options.idPrefix ?? "id"}${++ids}`,
    maxInputChars: options.maxInputChars,
    maxLoadedImageBytes: options.maxLoadedImageBytes,
  });
  const submit: TestAgent["submit"] = (text, request = {}) =>
    turns.submit({
      sessionKey: "test:one",
      channel: "test",
      actor: "test:person",
      input: [{ type: "text", text }],
      durable: false,
      attended: true,
      ...request,
    });
  return {
    turns,
    journal,
    media,
    clock,
    acts,
    ended,
    logs,
    submit,
    ask: async (text, request) => await eventsOf(await submit(text, request)),
    async [Symbol.asyncDispose]() {
      if (options.journal === undefined) await journal.close();
    },
  };
}

/** The events of a turn, once it has ended. */
export async function eventsOf(handle: TurnHandle): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const { event } of handle.events()) events.push(event);
  return events;
}

/** The first event of that type, waited for. */
export async function until(
  handle: TurnHandle,
  type: AgentEvent["type"],
): Promise<StoredEvent> {
  for await (const stored of handle.events()) if (stored.event.type === type) return stored;
  throw new Error(`The turn ended without ${type}`);
}

/** The events of one type. */
export function only<Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: Type,
): Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: Type }> =>
    event.type === type
  );
}

/** What was said, all segments together. */
export function textOf(events: readonly AgentEvent[]): string {
  return only(events, "text_delta").map(({ text }) => text).join("");
}

function refuse(): Promise<never> {
  return Promise.reject(new ServiceError("insufficient_scope", "Nobody may answer here"));
}
