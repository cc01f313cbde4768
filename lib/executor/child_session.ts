/**
 * A child that lives on: the authority calls it, and it calls the authority. Used for MCP servers and for
 * the proxy of sandboxed programs.
 *
 * @module
 */

import type { CallSpec, Endpoint, ParamsOf } from "../rpc/endpoint.ts";
import type { Peer } from "../rpc/peer.ts";

/** What a child that lives on answers. Its `start` comes first: an answer means that it is ready. */
export interface SessionEndpoint extends Endpoint {
  // deno-lint-ignore no-explicit-any -- any parameters; each kind keeps its own
  readonly calls: Endpoint["calls"] & { readonly start: CallSpec<any, void, never> };
}

/** Both ends of a kind of child. What the child says is checked: it isn't trusted. */
export interface SessionKind<Authority extends Endpoint, Child extends SessionEndpoint> {
  /** What the child may call and tell. */
  authority: Authority;
  child: Child;
}

/** What every such child is started as. */
export interface SessionBegin<Authority extends Endpoint, Child extends SessionEndpoint> {
  /** An `EntryName`, or any other with an `entry` of its own. */
  name: string;
  /** Its module, which calls `childPeer()`; default: that of the name. */
  entry?: URL;
  kind: SessionKind<Authority, Child>;
  /** Given to it at its start; the place for values of secrets. */
  params: ParamsOf<Child, "start">;
  /** Until it is ready. Default 20,000. */
  startTimeoutMs?: number;
}

/** A running child, seen from the authority. */
export interface ChildSession<Child extends Endpoint> {
  /**
   * Calls it. Rejects with an Error in the child's words, with the signal's reason after telling the child
   * to stop, after `timeoutMs`, when 64 calls are under way, when it is larger than a frame (16 MiB), and
   * when the child has ended.
   */
  call: Peer<Endpoint, Child>["call"];
  /** Resolves with why, for people, when it has ended, however that came. */
  readonly ended: Promise<string>;
  /** Kills it with its tree; resolves when nothing is left. */
  close(): Promise<void>;
}
