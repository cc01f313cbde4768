/**
 * How far the channels were looked at: on the disk with what is taken, and ahead of that in memory where
 * nobody has to answer what was looked at.
 *
 * @module
 */

import type { Intake } from "../../../lib/channel/platform/intake.ts";

/** How far a channel was looked at. */
export interface PostCursor {
  /** Milliseconds since 1970, by the server's clock. */
  createAt: number;
  /** The post that was the last. */
  id?: string;
}

export class PostCursors {
  readonly #intake: Pick<Intake<never>, "cursor">;
  /** Those that are ahead of the disk. */
  #ahead: Readonly<Record<string, string>> = {};

  constructor(intake: Pick<Intake<never>, "cursor">) {
    this.#intake = intake;
  }

  /** That of a name; undefined before anything was looked at. */
  get(name: string): PostCursor | undefined {
    const value = this.#ahead[name] ?? this.#intake.cursor(name);
    if (value === undefined) return undefined;
    const [ms, id] = value.split(" ");
    return { createAt: Number(ms), ...id !== undefined && { id } };
  }

  /** For the disk: those that are ahead of it, and these where they are further. */
  with(cursors: Readonly<Record<string, PostCursor>> = {}): Record<string, string> {
    const moved = { ...this.#ahead };
    for (const [name, { createAt, id }] of Object.entries(cursors)) {
      if (createAt < (this.get(name)?.createAt ?? 0)) continue;
      moved[name] = id === undefined ? `${createAt}` : `${createAt} ${id}`;
    }
    return moved;
  }

  /** Moves them in memory alone. */
  move(cursors: Readonly<Record<string, PostCursor>>): void {
    this.#ahead = this.with(cursors);
  }

  /** What `with` gave is on the disk. */
  stored(): void {
    this.#ahead = {};
  }
}
