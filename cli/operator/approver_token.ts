/**
 * The token of an approver, as a command gets it: from the environment or typed where nobody sees it,
 * never as an argument, which every process of the machine could read.
 *
 * @module
 */

import { ServiceError } from "../../lib/errors.ts";
import type { Output } from "../output.ts";

/** Name of the variable. */
export const TOKEN_VARIABLE = "SERVICE_APPROVER_TOKEN";

/** Where a token comes from. */
export interface TokenSource {
  env: (name: string) => string | undefined;
  isTerminal: boolean;
  /** What is typed up to Enter, unseen; undefined when the person gave up. */
  readHidden(prompt: string): Promise<string | undefined>;
}

/** The token. Throws `usage` where there is none and nobody to ask. */
export async function approverToken(source: TokenSource): Promise<string> {
  const given = source.env(TOKEN_VARIABLE)?.trim() ?? "";
  if (given !== "") return given;
  if (!source.isTerminal) {
    throw new ServiceError(
      "usage",
      `A token of an approver is needed: set ${TOKEN_VARIABLE}, or run this at a terminal. ` +
        "One is made with: service tokens issue --scopes approve",
      { param: TOKEN_VARIABLE },
    );
  }
  const typed = (await source.readHidden("Token of an approver (not shown): "))?.trim() ?? "";
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

const MAX_CHARS = 1_000;

async function readHidden(prompt: string, out: Output): Promise<string | undefined> {
  out.writeNote(prompt);
  const buffer = new Uint8Array(1_024);
  const decoder = new TextDecoder();
  Deno.stdin.setRaw(true);
  try {
    return await typed(async () => {
      const read = await Deno.stdin.read(buffer);
      return read === null ? undefined : decoder.decode(buffer.subarray(0, read), { stream: true });
    });
  } finally {
    Deno.stdin.setRaw(false);
    out.note();
  }
}

/** What the keys of a raw terminal make up to Enter; undefined after Ctrl-C, Ctrl-D or its end. */
export async function typed(read: () => Promise<string | undefined>): Promise<string | undefined> {
  let text = "";
  while (true) {
    const keys = await read();
    if (keys === undefined) return undefined;
    for (const key of keys) {
      if (key === "\r" || key === "\n") return text;
      if (key === "\x03" || key === "\x04") return undefined;
      if (key === "\x7f" || key === "\b") text = text.slice(0, -1);
      else if (key >= " " && text.length < MAX_CHARS) text += key;
    }
  }
}
