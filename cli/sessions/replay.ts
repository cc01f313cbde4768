/**
 * `service sessions replay`: a recorded turn, run again by the agent of this program. Nothing is executed,
 * and no service is needed where the turn comes from a file.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { SESSIONS } from "../../lib/operations/sessions.ts";
import type { Difference } from "../../lib/replay/compare.ts";
import type { TurnRecording } from "../../lib/replay/recording.ts";
import { EXIT, type ExitCode, type Invocation, type SubcommandSpec } from "../command.ts";
import type { AskDeps } from "../operator/ask_subcommand.ts";
import { fullKey } from "../operator/full_key.ts";
import {
  type Differences,
  operationSubcommand,
  typedInput,
} from "../operator/operation_subcommand.ts";
import type { Output } from "../output.ts";
import { plural } from "../plural.ts";
import { reportError } from "../report_error.ts";

/** What it reaches outside of itself. */
export interface ReplayDeps {
  files: {
    /** Rejects when the file has more bytes. */
    read(path: string, maxBytes: number): Promise<string>;
    /** Rejects when there is such a file. */
    write(path: string, text: string): Promise<void>;
  };
}

const DIFFERENCES: Differences = {
  names: { key: "source" },
  meaning: { key: (typed) => isFile(typed) ? typed : fullKey(typed) },
  options: [{ name: "save", value: "FILE", summary: "Write the turn to a new file, too" }],
};

/** The subcommand. */
export const REPLAY: SubcommandSpec = {
  ...operationSubcommand(SESSIONS["sessions.recording"], DIFFERENCES),
  summary:
    "Run a recorded turn again, with what the model and tools said then, and compare its events",
};

/** Characters of a value that are shown of a difference. */
const MAX_SHOWN_CHARS = 2_000;

/** Runs it. Exit code 0: the same events came; 1: others; 2: the turn can't be replayed. */
export async function replay(
  invocation: Invocation,
  deps: ReplayDeps & AskDeps,
): Promise<ExitCode> {
  const { globals, out } = invocation;
  let found: Awaited<ReturnType<typeof replayed>>;
  try {
    found = await replayed(invocation, deps);
  } catch (error) {
    reportError(error, out, { ...globals, help: "service sessions -h" });
    return EXIT.usage;
  }
  const { difference, recording: { events, answers } } = found;
  const calls = answers.flat().filter(({ type }) => type === "call").length;
  if (globals.json) {
    const counts = { events: events.length, model_calls: answers.length, tool_calls: calls };
    out.json({ same: difference === undefined, ...counts, ...difference && { difference } });
  } else if (difference === undefined) {
    const counts = [
      plural(events.length, "event"),
      plural(answers.length, "model call"),
      plural(calls, "tool call"),
    ];
    out.line(`The same: ${counts.join(", ")}`);
  } else printDifference(out, difference, events.length);
  return difference === undefined ? EXIT.done : EXIT.failed;
}

async function replayed(
  invocation: Invocation,
  deps: ReplayDeps & AskDeps,
): Promise<{ recording: TurnRecording; difference?: Difference }> {
  const { options: { save }, out } = invocation;
  // Only this subcommand needs the agent.
  const [{ replayTurn }, { comparable, firstDifference }] = await Promise.all([
    import("../../lib/replay/replay_turn.ts"),
    import("../../lib/replay/compare.ts"),
  ]);
  const recording = await readRecording(invocation, deps);
  if (typeof save === "string") {
    await deps.files.write(save, JSON.stringify(recording, null, 2) + "\n");
    out.note(
      `Saved to ${save}. It holds the texts of this chat and what tools returned, without the values of ` +
        "secrets: read it before you share it.",
    );
  }
  const difference = firstDifference(comparable(recording.events), await replayTurn(recording));
  return { recording, difference };
}

/** From the file, or from the service. */
async function readRecording(
  invocation: Invocation,
  { files, withAsk }: ReplayDeps & AskDeps,
): Promise<TurnRecording> {
  const { key, turn } = typedInput(SESSIONS["sessions.recording"], invocation, DIFFERENCES);
  if (!isFile(key)) {
    const request = { op: "sessions.recording" as const, key, turn };
    return await withAsk(invocation, (ask) => ask(request)) as unknown as TurnRecording;
  }
  if (turn !== undefined) {
    throw new ServiceError("usage", "Option --turn is for a session: a file has one turn");
  }
  const { MAX_RECORDING_CHARS, readRecording } = await import("../../lib/replay/recording.ts");
  try {
    // As UTF-8, and with the spaces that people read by.
    return readRecording(await files.read(key, 4 * MAX_RECORDING_CHARS));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, `${key}: ${error.message}`, error.details, { cause: error });
  }
}

/** A session has no such key. */
function isFile(typed: string): boolean {
  return /[/\\]|\.json$/i.test(typed);
}

function printDifference(
  out: Output,
  { event, type, field, recorded, replayed }: Difference,
  events: number,
): void {
  out.line(
    `Different at event ${event} of ${events}: ${type}`,
    field === undefined ? "" : `, field ${field}`,
  );
  out.line("  recorded: ", { text: shown(recorded), isData: true });
  out.line("  now:      ", { text: shown(replayed), isData: true });
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN_CHARS
    ? text
    : `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}… (${text.length} characters)`;
}

/** The files of this process. */
export const processFiles: ReplayDeps["files"] = {
  async read(path, maxBytes) {
    try {
      const { size, isFile } = await Deno.stat(path);
      if (!isFile) throw new ServiceError("usage", "Not a file");
      if (size > maxBytes) {
        throw new ServiceError("too_large", `The file is larger than ${maxBytes / 1024 ** 2} MiB`);
      }
      return await Deno.readTextFile(path);
    } catch (error) {
      throw asUsage(error, "Cannot read it");
    }
  },
  async write(path, text) {
    try {
      await Deno.writeTextFile(path, text, { createNew: true, mode: 0o600 });
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) {
        throw new ServiceError("usage", `Cannot save to ${path}: there is such a file already`);
      }
      throw asUsage(error, `Cannot save to ${path}`);
    }
  },
};

function asUsage(error: unknown, what: string): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  return new ServiceError("usage", `${what}: ${error.message}`, {}, { cause: error });
}
