/**
 * The network of one sandboxed program: a proxy of ours in a child outside of the sandbox, reached over
 * one Unix socket that is bound into it (decisions E6). Each connection is judged by rule E7, and the
 * record has one entry a host.
 *
 * @module
 */

/** An open proxy. */
export interface SandboxNetwork {
  /** The socket, a path in a 0700 folder of its own. */
  readonly socket: string;
  /** Ends it and every connection, and removes the socket. */
  close(): Promise<void>;
}

/** What it lets through. */
export interface SandboxNetworkOptions {
  /** Allowed hosts, as `lib/host_pattern.ts` reads them; without a port 80 and 443. */
  hosts: readonly string[];
  /** For the record: `exec` or `mcp:<server>`, and the turn where there is one. */
  user: { kind: "exec"; sessionKey: string; turnId: string; callId: string } | {
    kind: "mcp";
    server: string;
  };
}
