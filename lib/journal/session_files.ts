import type { OutFile, UserPart } from "../contract/messages.ts";
import { invalid } from "./checks.ts";
import { Queries } from "./query.ts";

/**
 * References of sessions to files, as rows of `session_files`. What changes them is called inside a batch
 * of the writer.
 */
export class SessionFiles extends Queries {
  readonly #insert = this.query(
    "INSERT OR IGNORE INTO session_files (session_id, sha256) VALUES (?, ?)",
  );
  readonly #selectAny = this.query(`SELECT 1 FROM session_files AS f
    CROSS JOIN sessions AS s ON s.id = f.session_id WHERE f.sha256 = ? AND s.key NOT NULL LIMIT 1`);
  readonly #selectSome = this.query(
    "SELECT sha256 FROM session_files WHERE session_id = ? ORDER BY sha256 LIMIT ?",
    ([sha256]: [string]) => sha256,
  );
  readonly #removeUpTo = this.query(
    "DELETE FROM session_files WHERE session_id = ? AND sha256 <= ?",
  );

  add(sessionId: number, sha256: string): void {
    this.#insert.run(sessionId, sha256);
  }

  /** Whether a session on record refers to it; one that is being deleted does not count. */
  has(sha256: string): boolean {
    return this.#selectAny.get(sha256) !== undefined;
  }

  /**
   * Removes up to `limit` references of a session that is being deleted. `free`: the files that
   * nobody refers to now.
   */
  take(sessionId: number, limit: number): { taken: number; free: string[] } {
    const files = this.#selectSome.all(sessionId, limit);
    if (files.length > 0) this.#removeUpTo.run(sessionId, files.at(-1)!);
    return { taken: files.length, free: files.filter((sha256) => !this.has(sha256)) };
  }
}

/** Hashes of those files that are in the media folder, where a file is named by its hash. */
export function mediaHashes(files: readonly OutFile[]): string[] {
  return files.flatMap(({ path }) => /(?<![^/\\])[0-9a-f]{64}$/.exec(path) ?? []);
}

/** Hashes of the files of an input, each once. Throws `invalid_request` for what is none. */
export function filesOf(input: readonly UserPart[]): string[] {
  const files = new Set<string>();
  for (const part of input) {
    if (!("file" in part)) continue;
    const { sha256 } = part.file;
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      throw invalid(
        "input",
        `Cannot use ${
          JSON.stringify(sha256)
        } as a file: SHA-256 as 64 lower-case hex digits is needed`,
      );
    }
    files.add(sha256);
  }
  return [...files];
}
