/**
 * Runs the calls of one step through the action port.
 *
 * Read-only calls that stand beside each other run in parallel, the others one after the other in
 * the order of the calls. Results come in that order too, each once and whatever happens: a call
 * that was cut off is `interrupted`.
 *
 * @module
 */

import type {
  ActionContext,
  ActionPort,
  ActionResult,
  ApprovalEvent,
  Remedy,
} from "../contract/actions.ts";
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/clock.ts";
import { type Life, settlesWithin } from "../contract/life.ts";
import type { ToolCall } from "../contract/messages.ts";
import { metrics } from "../telemetry/metrics.ts";
import { traced } from "../telemetry/trace.ts";
import type { Presence } from "./accepted_turn.ts";
import { unknownTool } from "./own_results.ts";
import type { Recorder } from "./recorder.ts";
import type { Toolbox } from "./toolbox.ts";

/** Read-only calls that run at the same time. */
const MAX_PARALLEL = 8;
/** Characters of one progress text. */
const MAX_PROGRESS_CHARS = 4_000;
/** How long an aborted action may take to say how it ended. */
const GRACE_MS = 2_000;

const TOOL_SECONDS = metrics.histogram({
  name: "service_tool_call_duration_seconds",
  help: "Calls of tools, by how they came out; the wait for a person is part of them",
  labels: ["tool", "status"],
});

const APPROVALS = metrics.counter({
  name: "service_approvals_total",
  help: "Actions that waited for a person, by what came of the wait",
  labels: ["outcome"],
});

/** What came of a call. */
export interface CallOutcome {
  status: "ok" | "failed" | "refused" | "interrupted";
  /** For the model. */
  output: string;
  /** Something was done, or may have been. */
  ran: boolean;
  /** Absent where nothing was asked of the gate. */
  tookMs?: number;
  /** What would have allowed a refused call. */
  remedy?: Remedy;
}

/** What running calls needs. */
export interface RunCallsDeps {
  actions: ActionPort;
  toolbox: Toolbox;
  recorder: Recorder;
  life: Life;
  clock: Clock;
  log: Log;
  /** What the gate is told of the turn, for this call. */
  context: (call: ToolCall) => ActionContext;
  presence: Pick<Presence, "left">;
}

/**
 * Runs the calls and hands each outcome to `onOutcome`, in their order, as soon as those before it
 * are known. Never rejects: when the turn is ended, what runs is aborted and gets a short grace.
 */
export async function runCalls(
  deps: RunCallsDeps,
  calls: readonly ToolCall[],
  onOutcome: (call: ToolCall, outcome: CallOutcome) => void,
): Promise<void> {
  const mayRunBeside = ({ tool: name }: ToolCall) => {
    const tool = deps.toolbox.find(name);
    return tool?.parallel ?? tool?.readOnly === true;
  };
  for (let from = 0; from < calls.length;) {
    let to = from + 1;
    if (mayRunBeside(calls[from]!)) {
      while (to < calls.length && mayRunBeside(calls[to]!)) to += 1;
    }
    await runTogether(deps, calls.slice(from, to), onOutcome);
    from = to;
  }
}

async function runTogether(
  deps: RunCallsDeps,
  calls: readonly ToolCall[],
  onOutcome: (call: ToolCall, outcome: CallOutcome) => void,
): Promise<void> {
  const outcomes: (CallOutcome | undefined)[] = calls.map(() => undefined);
  let next = 0;
  let told = 0;
  const work = async () => {
    while (next < calls.length) {
      const at = next++;
      outcomes[at] = await runCall(deps, calls[at]!);
      for (let outcome; (outcome = outcomes[told]) !== undefined; told++) {
        onOutcome(calls[told]!, outcome);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, calls.length) }, work));
}

async function runCall(deps: RunCallsDeps, call: ToolCall): Promise<CallOutcome> {
  const { toolbox, life } = deps;
  if (life.verdict !== undefined) {
    return { status: "interrupted", output: "Not run: the turn had ended.", ran: false };
  }
  const fault = faultOf(call, toolbox);
  if (fault !== undefined) return { status: "failed", output: fault, ran: false };
  const { tool, callId } = call;
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
  };
  return await traced(`execute_tool ${tool}`, { attributes }, async (span) => {
    const startedMs = performance.now();
    const outcome = await act(deps, call);
    const { status } = outcome;
    const tookMs = performance.now() - startedMs;
    TOOL_SECONDS.record({ tool, status }, tookMs / 1_000);
    if (status !== "ok") span.fail(status);
    return { ...outcome, tookMs: Math.round(tookMs) };
  });
}

async function act(deps: RunCallsDeps, call: ToolCall): Promise<CallOutcome> {
  const { life, clock, log, actions } = deps;
  life.begin(`the tool ${call.tool}`);
  let open = true;
  let said = false;
  const approvals = new CallApprovals(deps, call);
  const acting =
    (async () =>
      await actions.act({ tool: call.tool, args: call.args, context: deps.context(call) }, {
        signal: life.signal,
        onProgress: (text) => {
          said = true;
          if (open) tellProgress(deps, call, text);
        },
        onApproval: (event) => open && approvals.take(event),
        left: deps.presence.left,
      }))();
  try {
    return toOutcome(await life.wait(acting));
  } catch (error) {
    if (life.verdict === undefined) {
      // Against the port's contract; the model has to know that nobody knows.
      log.error("An action broke off", { tool: call.tool, callId: call.callId, error });
    } else if (await settlesWithin(clock, acting, GRACE_MS)) {
      const late = await acting.catch(() => undefined);
      if (late !== undefined) return toOutcome(late);
    }
    if (approvals.unanswered && !said) {
      const output = "Not run: the turn ended while it waited for a person.";
      return { status: "interrupted", output, ran: false };
    }
    return {
      status: "interrupted",
      output: "Interrupted: it is not known whether this call did anything.",
      ran: true,
    };
  } finally {
    open = false;
    approvals.close();
    life.touch();
  }
}

/** The approvals of one call; while one waits, the turn's time stands still. */
class CallApprovals {
  readonly #deps: RunCallsDeps;
  readonly #call: ToolCall;
  /** What ends the pause of each that waits. */
  readonly #waiting = new Map<string, () => void>();
  /** The last one got no answer, and so what it was about does not run. */
  unanswered = false;

  constructor(deps: RunCallsDeps, call: ToolCall) {
    this.#deps = deps;
    this.#call = call;
  }

  take(event: ApprovalEvent): void {
    const { recorder, life } = this.#deps;
    const { callId, tool } = this.#call;
    if (event.type === "requested") {
      const { approval, brief } = event;
      if (this.#waiting.has(approval.id)) return;
      this.#waiting.set(approval.id, life.pause());
      this.unanswered = true;
      recorder.say({ type: "approval_requested", callId, tool, approval, brief });
      return;
    }
    const { approvalId, outcome } = event;
    const resume = this.#waiting.get(approvalId);
    if (resume === undefined) return;
    this.#waiting.delete(approvalId);
    APPROVALS.add({ outcome });
    this.unanswered = outcome === "void";
    resume();
    recorder.say({ type: "approval_resolved", callId, approvalId, outcome });
  }

  /** The call has ended: nothing of it waits any more, whether the gate came to say so or not. */
  close(): void {
    for (const approvalId of [...this.#waiting.keys()]) {
      this.take({ type: "resolved", approvalId, outcome: "void" });
    }
  }
}

/** What is wrong with a call that the authority need not be asked about; words for the model. */
function faultOf({ tool, args }: ToolCall, toolbox: Toolbox): string | undefined {
  if (toolbox.find(tool) === undefined) return unknownTool(tool, toolbox.names);
  if (typeof args === "string") {
    return "The arguments are not valid JSON. Call again with one JSON object as the arguments. " +
      `They began with: ${args.slice(0, 200).toWellFormed()}`;
  }
  return undefined;
}

function tellProgress({ life, recorder }: RunCallsDeps, call: ToolCall, text: string): void {
  life.touch();
  // Progress is the one thing that may be lost: a tool that floods must not fill the memory.
  if (text === "" || recorder.full) return;
  recorder.say({
    type: "tool_progress",
    callId: call.callId,
    tool: call.tool,
    text: text.length <= MAX_PROGRESS_CHARS
      ? text
      : `${text.slice(0, MAX_PROGRESS_CHARS).toWellFormed()}…`,
  });
}

function toOutcome(result: ActionResult): CallOutcome {
  const { status, output } = result;
  if (status !== "refused") return { status, output, ran: true };
  return { status, output, ran: false, remedy: result.remedy };
}
