/**
 * Asks a person before something that cannot be undone.
 *
 * @module
 */

import { ServiceError } from "../lib/base/errors.ts";
import type { Output } from "./output.ts";

/** Where the answer comes from. */
export interface ConfirmDeps {
  out: Output;
  isTerminal: boolean;
  /** One line of standard input; undefined at its end. */
  readLine(): Promise<string | undefined>;
}

/**
 * Whether the person says yes; anything but `y` or `yes` is a no. Throws `usage` where there is no
 * terminal to ask at.
 */
export async function confirm(question: string, deps: ConfirmDeps): Promise<boolean> {
  if (!deps.isTerminal) {
    throw new ServiceError("usage", `${question} No terminal to ask at: add --yes`, {
      param: "yes",
    });
  }
  deps.out.writeNote(`${question} [y/N] `);
  const answer = await deps.readLine();
  if (answer === undefined) deps.out.note();
  return /^\s*y(es)?\s*$/i.test(answer ?? "");
}

/** Asks at this process's terminal. */
export function processConfirm(out: Output): ConfirmDeps {
  return { out, isTerminal: Deno.stdin.isTerminal(), readLine: readTerminalLine };
}

/** A terminal gives whole lines, at most 4,096 bytes each. */
export async function readTerminalLine(): Promise<string | undefined> {
  const buffer = new Uint8Array(4_096);
  const read = await Deno.stdin.read(buffer);
  return read === null ? undefined : new TextDecoder().decode(buffer.subarray(0, read));
}
