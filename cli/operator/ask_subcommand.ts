/**
 * Subcommands that ask for one operation: what was typed is what is asked, and with `--json` the answer is
 * printed as a route has it, a list with a line for each row.
 *
 * @module
 */

import type { z } from "zod";
import type { OperationRequest, OperationResult } from "../../lib/operations/operations.ts";
import { EXIT, type ExitCode, type Invocation, type SubcommandSpec } from "../command.ts";
import type { Output } from "../output.ts";
import { type ListLook, printList } from "../print_list.ts";
import { timeText } from "../time_text.ts";
import type { Ask, AskedName } from "./operate_with.ts";
import {
  type CommandHead,
  type Differences,
  operationSubcommand,
  typedInput,
} from "./operation_subcommand.ts";

/** A subcommand with what it does. */
export interface Subcommand<Deps> {
  spec: SubcommandSpec;
  run(invocation: Invocation, deps: Deps): Promise<ExitCode>;
}

/** What a subcommand reaches that asks. */
export interface AskDeps {
  /** Gives `use` what asks: the service, or the home's own files. */
  withAsk<T>(invocation: Invocation, use: (ask: Ask) => Promise<T>): Promise<T>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** How rows of an answer are shown; `time` puts seconds into words. */
interface Listing<Op extends AskedName, Row> extends Omit<ListLook<Row>, "cells"> {
  rows(answer: OperationResult<Op>): readonly Row[];
  cells(row: Row, time: (seconds: number | undefined) => string): readonly string[];
  /** Said after them. */
  after?(answer: OperationResult<Op>, out: Output): void;
}

/** A subcommand that prints rows. */
export function listSubcommand<Op extends AskedName, Input extends z.ZodObject, Row>(
  op: Op,
  operation: CommandHead<Input>,
  { rows, cells, after, ...look }: Listing<Op, Row>,
): Subcommand<AskDeps> {
  return {
    spec: operationSubcommand(operation),
    async run(invocation, deps) {
      const { out } = invocation;
      const request = { ...typedInput(operation, invocation), op } as unknown;
      const answer = await deps.withAsk(invocation, (ask) => ask(request as OperationRequest<Op>));
      const now = deps.now();
      await printList(invocation, rows(answer), {
        ...look,
        cells: (row) => cells(row, (seconds) => timeText(out, seconds && seconds * 1_000, now)),
      });
      after?.(answer, out);
      return EXIT.done;
    },
  };
}

/** A subcommand that says what it did. */
export function askSubcommand<Op extends AskedName, Input extends z.ZodObject>(
  op: Op,
  operation: CommandHead<Input>,
  { asked, say, differences }: {
    differences?: Differences;
    /** What is asked where that isn't what was typed. */
    asked?(typed: z.input<Input>, now: number): Omit<OperationRequest<Op>, "op">;
    say(answer: OperationResult<Op>, out: Output): void;
  },
): Subcommand<AskDeps> {
  return {
    spec: operationSubcommand(operation, differences),
    async run(invocation, deps) {
      const { globals, out } = invocation;
      const typed = typedInput(operation, invocation, differences);
      const request = { ...asked?.(typed, deps.now()) ?? typed, op } as unknown;
      const answer = await deps.withAsk(invocation, (ask) => ask(request as OperationRequest<Op>));
      if (globals.json) out.json(answer);
      else say(answer, out);
      return EXIT.done;
    },
  };
}

/** Runs the subcommand that was typed; `list` where none was. */
export async function runSubcommand<Deps>(
  subcommands: readonly Subcommand<Deps>[],
  invocation: Invocation,
  deps: Deps,
): Promise<ExitCode> {
  const { subcommand = "list" } = invocation;
  return await subcommands.find(({ spec }) => spec.name === subcommand)!.run(invocation, deps);
}
