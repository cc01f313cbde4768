import { fromErrorData } from "../base/errors.ts";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { AcceptedTurn } from "../agent/accepted_turn.ts";
import { TurnMarks } from "../agent/turn_marks.ts";
import { TurnRunner } from "../agent/turn_runner.ts";
import type { AgentTool } from "../agent/toolbox.ts";
import { configSchema } from "../config/schema.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { Journal, NewTurn } from "../contract/journal.ts";
import { openJournal } from "../journal/open.ts";
import { callsIn, comparable } from "./compare.ts";
import { RecordedActions } from "./recorded_actions.ts";
import { recordedModel } from "./recorded_model.ts";
import type { TurnRecording } from "./recording.ts";

const TURN_ID = "replay";

const QUIET: Log = { debug() {}, info() {}, warning() {}, error() {} };

/**
 * Runs a recorded turn with the agent's own loop over a journal in memory. Resolves with its events,
 * {@linkcode comparable}.
 */
export async function replayTurn(recording: TurnRecording): Promise<AgentEvent[]> {
  let own: AcceptedTurn | undefined;
  const onOver = () => {
    const { end } = recording;
    if (end !== undefined) own?.life?.end({ ...end, error: fromErrorData(end.error) });
  };
  const journal = openMemory(recording, onOver);
  try {
    const { turn } = await journal.accept(newTurn(recording), { requestKey: keyOf(recording) });
    const model = recordedModel(recording, onOver);
    own = new AcceptedTurn({
      turn,
      journal,
      requester: "none",
      pickModel: () => ({ model }),
    });
    const { agent } = configSchema.parse({});
    const deps = {
      journal,
      media: { read: () => Promise.resolve(undefined) },
      actions: new RecordedActions({
        actions: recording.actions,
        onOver,
        // What can't be written then can't be written later, and that is told.
        sendFiles: (event) => void journal.append(TURN_ID, [event]).catch(() => {}),
      }),
      tools: toolsOf(recording),
      config: () => ({
        agent: {
          ...agent,
          maxSteps: recording.settings.maxSteps ?? Infinity,
          contextTokens: model.contextTokens,
        },
      }),
      instructions: () => Promise.resolve(""),
      log: QUIET,
      clock: systemClock,
      randomId: () => "replay",
    };
    const marks = new TurnMarks(deps);
    await marks.end(own, await new TurnRunner(deps, marks).run(own));
    const events: AgentEvent[] = [];
    for await (const { event } of journal.follow(turn.sessionId, { afterSeq: 0, live: false })) {
      events.push(event);
    }
    return comparable(events);
  } finally {
    await journal.close();
  }
}

/** A journal in memory, with what came before the turn. Calls `onOver` when the turn's end came between its calls. */
function openMemory({ context, end }: TurnRecording, onOver: () => void): Journal {
  const memory = openJournal({ path: ":memory:" });
  const before = context.map((message, at) => ({ id: at + 1, turnId: "", message, tokens: 0 }));
  let calls = 0;
  const note = (events: readonly AgentEvent[]) => {
    const more = callsIn(events);
    calls += more;
    if (more > 0 && calls === end?.afterCalls) onOver();
  };
  return {
    ...memory,
    context: (sessionId) => [...before, ...memory.context(sessionId)],
    append(turnId, events, durability) {
      note(events);
      return memory.append(turnId, events, durability);
    },
    addMessage(turnId, message, options) {
      note(options?.events ?? []);
      return memory.addMessage(turnId, message, options);
    },
  };
}

function newTurn({ input, settings: { tokenBudget } }: TurnRecording): NewTurn {
  return {
    id: TURN_ID,
    sessionKey: "replay:turn",
    channel: "replay",
    actor: "replay:nobody",
    input,
    durable: false,
    ...tokenBudget !== undefined && {
      automation: { id: "replay", digest: "", maxSteps: Number.MAX_SAFE_INTEGER, tokenBudget },
    },
  };
}

/** What its sender called the message, which the start of the turn names. */
function keyOf({ events: [start] }: TurnRecording) {
  if (start?.type !== "turn_start" || start.replyTo === undefined) return undefined;
  return { scope: "replay", key: start.replyTo, digest: "replay" };
}

/** The tools as the loop needs them; what is beside their names is of the tools, and so recorded. */
function toolsOf({ settings, answers }: TurnRecording): AgentTool[] {
  const hints = new Map<string, string>();
  for (const said of answers.flat()) {
    if (said.type !== "call") continue;
    hints.set(JSON.stringify([said.call.tool, said.call.args]), said.call.hint);
  }
  return settings.tools.map(({ name, parallel }) => ({
    name,
    description: "",
    parameters: {},
    readOnly: false,
    parallel,
    capability: "fs.read",
    hint: (args) => hints.get(JSON.stringify([name, args])) ?? name,
  }));
}
