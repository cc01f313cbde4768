/**
 * The tools of the agent, as the turn needs them: by name, with a hint that never throws.
 *
 * @module
 */

import type { Capability } from "../contract/actions.ts";
import type { ToolDescription } from "../model/port.ts";

/** A tool as the agent knows it; running it is the authority's. */
export interface AgentTool extends ToolDescription {
  /** Changes nothing, so calls of it may run beside each other. */
  readonly readOnly: boolean;
  /**
   * Calls of it may run beside each other although nobody can say that it changes nothing: a tool of
   * others that only claims so. Default: only if it is `readOnly`.
   */
  readonly parallel?: boolean;
  readonly capability: Capability;
  /** A short breadcrumb for people, such as `read_file notes.md`; may throw on unchecked arguments. */
  hint(args: unknown): string;
}

/** Characters of a hint. */
const MAX_HINT_CHARS = 200;

/** The tools of a service, in the order in which a model is told of them. */
export class Toolbox {
  readonly descriptions: readonly ToolDescription[];
  readonly #byName: ReadonlyMap<string, AgentTool>;

  constructor(tools: readonly AgentTool[]) {
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
    this.descriptions = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
  }

  find(name: string): AgentTool | undefined {
    return this.#byName.get(name);
  }

  get names(): string[] {
    return [...this.#byName.keys()];
  }

  /** One short line for people, whatever the model sent. */
  hint(name: string, args: unknown): string {
    let hint = name;
    try {
      hint = this.#byName.get(name)?.hint(args) ?? name;
    } catch {
      // Arguments that the tool cannot read: its name has to do.
    }
    const line = hint.replace(/[\p{Cc}\s]+/gu, " ").trim();
    return line.length <= MAX_HINT_CHARS
      ? line
      : `${line.slice(0, MAX_HINT_CHARS - 1).toWellFormed()}…`;
  }
}
