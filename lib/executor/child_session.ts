/**
 * A child that lives on: the authority asks it things, and it asks the authority, each by number, over
 * the frames of `session_protocol.ts`. Used for MCP servers and for the proxy of sandboxed programs.
 * The child's side is `serve_session.ts`.
 *
 * @module
 */

/** A running child, seen from the authority. Everything that comes from it is checked by the caller. */
export interface ChildSession {
  /**
   * Asks for something and waits. Rejects with an Error in the child's words, with the signal's reason
   * after telling the child to stop, after `timeoutMs`, when 64 requests are under way, when it is
   * larger than a frame (16 MiB), and when the child has ended.
   */
  request(
    method: string,
    params: unknown,
    options: { signal?: AbortSignal; timeoutMs: number; onProgress?: (text: string) => void },
  ): Promise<unknown>;
  /** Resolves with why, for people, when it has ended, however that came. */
  readonly ended: Promise<string>;
  /** Kills it with its tree; resolves when nothing is left. */
  close(): Promise<void>;
}

/** What the child may ask of the authority. Both may be called at any time, and cost little. */
export interface ChildSessionHandlers {
  /** Answers a request of the child's; what it throws is told in words. At most 64 at once. */
  onRequest?(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Takes a notice, which nobody answers. A child that gives very many is read more slowly. */
  onNotice?(name: string, data: unknown): void;
}
