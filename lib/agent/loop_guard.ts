/**
 * Notices a model that makes the same calls again and again and learns nothing from the results.
 *
 * Pure: it sees each call with its result in the order of the calls, and says what to do. A call
 * counts as the same when tool, arguments and result are; polling that makes progress goes on.
 *
 * @module
 */

/** A call and what came of it. */
export interface ObservedCall {
  tool: string;
  args: unknown;
  output: string;
}

/** What to do: nothing, tell the model, or end the turn. */
export type LoopAdvice =
  | { kind: "ok" }
  /** `note` goes to the end of the result that the model is given. */
  | { kind: "warn"; note: string }
  /** `reason` is shown to whoever asked. */
  | { kind: "stop"; reason: string };

/** Longest cycle that is looked for, calls. */
const MAX_PERIOD = 3;
/** Rounds of the same after which the model is told. */
const WARN_ROUNDS = 3;
/** Rounds after which the turn ends, by length of the cycle. */
const STOP_ROUNDS = [5, 4, 4] as const;

const SAME = "the same arguments and gave the same result each time. " +
  "Another time will not help: try something else, or answer with what you know.";
const NOTE = new RegExp(`\\n\\n\\[Note: [^\\n]* was called \\d+ times in a row with ${SAME}\\]$`);

/** The output as the tool gave it, without the note of a warning. */
export function withoutNote(output: string): string {
  return output.replace(NOTE, "");
}

/** The memory of one turn: a few digests, however long the turn is. */
export class LoopGuard {
  readonly #seen: { tool: string; digest: string }[] = [];

  /** Takes the next call of the turn. */
  observe(call: ObservedCall): LoopAdvice {
    this.#seen.push({ tool: call.tool, digest: digestOf(call) });
    if (this.#seen.length > MAX_PERIOD * Math.max(...STOP_ROUNDS)) this.#seen.shift();
    let warn: LoopAdvice = { kind: "ok" };
    for (let period = 1; period <= MAX_PERIOD; period++) {
      const rounds = this.#rounds(period);
      const what = this.#describe(period);
      if (rounds >= STOP_ROUNDS[period - 1]!) {
        return {
          kind: "stop",
          reason:
            `The model went in circles: it called ${what} ${rounds} times in a row with the same arguments and got the same result each time`,
        };
      }
      if (rounds >= WARN_ROUNDS && warn.kind === "ok") {
        warn = {
          kind: "warn",
          note: `[Note: ${what} was called ${rounds} times in a row with ${SAME}]`,
        };
      }
    }
    return warn;
  }

  /** How many times the last `period` calls stand at the end of the record in a row. */
  #rounds(period: number): number {
    const seen = this.#seen;
    let same = 0;
    for (let at = seen.length - 1; at - period >= 0; at--) {
      if (seen[at]!.digest !== seen[at - period]!.digest) break;
      same += 1;
    }
    return Math.floor(same / period) + 1;
  }

  #describe(period: number): string {
    return this.#seen.slice(-period).map(({ tool }) => tool).join(", then ");
  }
}

/** The value as JSON whose object keys are sorted, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0),
    );
  }) ?? "undefined";
}

/** Short stand-in for a call and its result: two 32-bit FNV-1a lanes and the length. */
function digestOf({ tool, args, output }: ObservedCall): string {
  const text = `${tool}\n${canonicalJson(args)}\n${output}`;
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + at), 0x01000193);
  }
  return `${text.length}:${a >>> 0}:${b >>> 0}`;
}
