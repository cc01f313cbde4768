/**
 * Makes the calls of a model such that every provider takes them back.
 *
 * @module
 */

import type { ToolCall } from "../contract/messages.ts";

/** Longest name of a tool, and what it is made of. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The calls of one context; each has an id of its own in it. */
export class LegalCalls {
  readonly #ids = new Set<string>();

  /** Notes an id that is taken. */
  note(callId: string): void {
    this.#ids.add(callId);
  }

  /** The call with an id that no other has, a name that is one, and `{}` for empty arguments. */
  make({ callId, tool, args }: ToolCall): ToolCall {
    const base = callId === "" ? "call" : callId;
    let id = base;
    for (let n = 2; this.#ids.has(id); n++) id = `${base}_${n}`;
    this.#ids.add(id);
    const name = NAME.test(tool)
      ? tool
      : tool.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
    return { callId: id, tool: name, args: args === "" ? {} : args };
  }
}
