/**
 * The token of an approver, as a command gets it: from the environment or typed where nobody sees it,
 * never as an argument, which every process of the machine could read.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Output } from "../output.ts";
import { readHidden } from "./read_hidden.ts";

/** Name of the variable. */
export const TOKEN_VARIABLE = "SERVICE_APPROVER_TOKEN";

/** Where a token comes from. */
export interface TokenSource {
  env: (name: string) => string | undefined;
  isTerminal: boolean;
  /** What is typed up to Enter, unseen; undefined when the person gave up. */
  readHidden(prompt: string): Promise<string | undefined>;
}

/** The token of somebody with that scope. Throws `usage` where there is none and nobody to ask. */
export async function approverToken(
  source: TokenSource,
  scope: "approve" | "operate" = "approve",
): Promise<string> {
  const who = scope === "approve" ? "an approver" : "an operator";
  const given = source.env(TOKEN_VARIABLE)?.trim() ?? "";
  if (given !== "") return given;
  if (!source.isTerminal) {
    throw new ServiceError(
      "usage",
      `This needs ${who} token: set ${TOKEN_VARIABLE}, or run it in a terminal. ` +
        `Issue one with: service tokens issue --scopes ${scope}`,
      { param: TOKEN_VARIABLE },
    );
  }
  const typed =
    (await source.readHidden(`${scope === "approve" ? "Approver" : "Operator"} token (hidden): `))
      ?.trim() ?? "";
  if (typed === "") throw new ServiceError("usage", "No token was typed");
  return typed;
}

/** The environment and terminal of this process. */
export function processTokenSource(out: Output): TokenSource {
  return {
    env: (name) => Deno.env.get(name),
    isTerminal: Deno.stdin.isTerminal() && out.isErrorTerminal,
    readHidden: (prompt) => readHidden(prompt, out),
  };
}
