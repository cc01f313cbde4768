import { type ErrorData, ServiceError, toErrorData } from "../base/errors.ts";
import type { TurnStatus } from "../contract/events.ts";
import type { TurnState } from "./turn_state.ts";
import type { JournalParts, TurnWrites } from "./turn_writes.ts";
import type { Turn } from "../contract/journal.ts";
import { Refused, type Writer } from "./writer.ts";

/** Runs of a turn that may be cut off by a crash before it is given up. */
const MAX_CRASHES = 2;

/** What {@linkcode recover} needs. */
export interface RecoverDependencies {
  writer: Writer;
  parts: JournalParts;
  writes: TurnWrites;
}

/**
 * Puts in order what a crash left; see `Journal.recover`. Each turn is one write, whole or not at
 * all, and one that was put in order is not changed again, so a crash in here does no harm.
 */
export async function recover(
  { writer, parts: { turns, openTurns }, writes }: RecoverDependencies,
): Promise<{ interrupted: number; resume: Turn[] }> {
  function putInOrder(id: string): TurnStatus | "goes on" | Refused {
    const open = openTurns.get(id);
    if (open instanceof Refused) return open;
    const turn = turns.find(id)!;
    // One that an orderly stop ended waits.
    const crashed = turn.status === "running";
    const verdict = verdictOf(turn, turn.crashes + (crashed ? 1 : 0), open.state);
    if (verdict === undefined) {
      writes.close(open, { goesOn: true, forget: false });
      turns.requeue(open.turn, { crashed });
      return "goes on";
    }
    const { ranTool, calls, usage } = open.state;
    const { status, error } = verdict;
    writes.end(open, {
      event: { type: "turn_end", status, finishReason: "stop", usage: { ...usage } },
      error,
      forget: error !== undefined && !ranTool && calls.size === 0,
    });
    return status;
  }

  const ids = turns.openIds();
  const outcomes = await Promise.all(
    ids.map((id) => writer.write("full", () => putInOrder(id))),
  );
  return {
    interrupted:
      outcomes.filter((outcome) => outcome === "interrupted" || outcome === "failed").length,
    resume: ids.filter((_, index) => outcomes[index] === "goes on").map((id) => turns.find(id)!),
  };
}

/** How the turn ends, or undefined when it goes on. */
function verdictOf(
  { durable, status, startedAt }: Turn,
  crashes: number,
  { answered }: Pick<TurnState, "answered">,
): { status: TurnStatus; error?: ErrorData } | undefined {
  if (answered) return { status: "done" };
  if (durable && crashes < MAX_CRASHES) return undefined;
  if (durable) {
    const message =
      `The service stopped unexpectedly in ${crashes} runs of this turn, so it isn't ` +
      `run again. Check the service's log from ${
        new Date(startedAt!).toISOString()
      } on before you ` +
      "send it again.";
    return { status: "failed", error: toErrorData(new ServiceError("turn_crashed", message)) };
  }
  const message = status === "queued"
    ? "The service stopped before this turn was run"
    : "The service stopped while this turn ran";
  return {
    status: "interrupted",
    error: toErrorData(new ServiceError("turn_interrupted", message)),
  };
}
