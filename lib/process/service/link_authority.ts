/**
 * What the gateway asks of the authority, in the shapes of the ports that its parts know.
 *
 * @module
 */

import type { AppFile } from "../../browser_app/app_files.ts";
import type { ActionPort } from "../../contract/actions.ts";
import type { McpServerStatus } from "../../mcp_servers/mcp_servers.ts";
import type { AgentTool } from "../../agent/toolbox.ts";
import type { LocalConnection, LocalUser } from "../../authority/local_users.ts";
import type { Credential } from "../../contract/credentials.ts";
import type { PairAnswer, StrangerAsked } from "../../operations/channels/find_sender.ts";
import type { McpRequest } from "../../operations/mcp.ts";
import type { GatewayParts } from "../../operations/operation.ts";
import type { Operate, OperationRequest } from "../../operations/operations.ts";
import type { DocumentReader } from "../../contract/documents.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { JwksNetwork } from "../../trusted_proxy/fetch_jwks.ts";
import type { AuthorityPeer, ChannelRun, Checks } from "../../authority/protocol.ts";
import { mcpAgentTool } from "./mcp_agent_tool.ts";
import type { ChannelWorker, OpenChannelWorker } from "../../channel_worker/open_channel_worker.ts";

/** Requests of approvers and operators that are answered at the same time. */
const MAX_OPERATING = 256;
/** Looks at MCP servers that wait at the same time. */
const MAX_MCP_REQUESTS = 64;
/** For so long a burst of turns goes by what its first one was told, milliseconds. */
const BURST_MS = 250;

/** Everything that the gateway asks of the authority and waits for. */
export interface AuthorityLink {
  readonly actions: ActionPort;
  /** Reads documents in children of the authority. */
  readonly documents: DocumentReader;
  /** Asks for what only approvers and operators may do; rejects with the authority's ServiceError. */
  readonly operate: Operate;
  /** Rejects unless a turn may work in that project. */
  checkFolder(folder: string): Promise<unknown>;
  /** AGENTS.md of a project or, without one, of the workspace; or an empty text. */
  instructions(folder?: string): Promise<string>;
  /** What MCP servers offer; the authority bounds how long that takes. The same list for a burst. */
  tools(): Promise<readonly AgentTool[]>;
  /** How MCP servers are; rejects with the authority's ServiceError. */
  mcp(request: McpRequest): Promise<McpServerStatus[]>;
  /** The way to the signing keys of the trusted proxy; the host and the URL are the authority's own. */
  readonly signingKeys: JwksNetwork;
  /** Whether a connection over loopback comes from the service's own user. */
  localUser(connection: LocalConnection): Promise<LocalUser>;
  /** The files of the browser app; rejects with the authority's ServiceError. */
  appFiles(): Promise<AppFile[]>;
  /** Takes up the configuration file now. */
  readonly reload: GatewayParts["reload"];
  /** A code for a stranger who wrote to a channel, or that they may write now. */
  pair(asked: StrangerAsked): Promise<PairAnswer>;
  /** Removes data that is over its limits. */
  readonly retention: GatewayParts["retention"];
  /** Health of what the authority holds. Rejects after `timeoutMs`. */
  probe(timeoutMs: number): Promise<Checks>;
  /** Has the worker of a channel started. */
  openChannelWorker: OpenChannelWorker;
}

/** Links to the authority. `now` in milliseconds. */
export function linkAuthority(
  peer: Pick<AuthorityPeer, "call" | "notify">,
  now: () => number,
): AuthorityLink {
  let lastChannel = 0;
  const operating = limiter(MAX_OPERATING, "answers");
  const asking = limiter(MAX_MCP_REQUESTS, "looks at MCP servers");
  return {
    actions: {
      act(request, { signal, onProgress, onApproval, left }) {
        const { turnId, callId } = request.context;
        const leave = () => peer.notify("requester_left", { turnId, callId });
        const result = peer.call("act", request, {
          signal,
          onProgress(news) {
            if (news.type === "progress") onProgress(news.text);
            else onApproval?.(news.event);
          },
        });
        if (left?.aborted) leave();
        left?.addEventListener("abort", leave, { once: true });
        return result.finally(() => left?.removeEventListener("abort", leave));
      },
      turnEnded: (turnId) => peer.notify("turn_ended", turnId),
    },
    documents: {
      // A copy is transferred: the caller's bytes are still to be kept.
      extract: ({ name, bytes }, { signal }) =>
        peer.call("extract", { name }, { bytes: bytes.slice(), signal }),
    },
    operate:
      ((request: OperationRequest, credential: Credential) =>
        operating(() => peer.call("operate", { request, credential }))) as Operate,
    checkFolder: (folder) => peer.call("check_folder", folder),
    instructions: oncePerBurst(
      (folder?: string) => peer.call("instructions", folder ?? null),
      now,
    ),
    tools: oncePerBurst<void, AgentTool[]>(
      async () => (await peer.call("tools", null)).map(mcpAgentTool),
      now,
    ),
    mcp: (request) =>
      asking(async () =>
        request.op === "list"
          ? await peer.call("mcp_status", null)
          : [await peer.call("mcp_test", request.server)]
      ),
    signingKeys: {
      resolve: (_host, signal) => peer.call("resolve_key_host", null, { signal }),
      async fetchAt({ signal }) {
        const { status, headers, body } = await peer.call("fetch_keys", null, { signal });
        // Of a status without a body none may be given.
        return new Response(status === 200 ? Uint8Array.fromBase64(body) : null, {
          status,
          headers,
        });
      },
    },
    localUser: (connection) => peer.call("local_user", connection),
    appFiles: async () =>
      (await peer.call("app_files", null)).map(({ name, gzip }) => ({
        name,
        gzip: Uint8Array.fromBase64(gzip),
      })),
    reload: (by) => peer.call("reload", by),
    pair: (asked) => peer.call("pair", asked),
    retention: { prune: (request) => peer.call("prune", request) },
    probe: (timeoutMs) => peer.call("probe", null, { timeoutMs }),
    openChannelWorker: (runtimeName) => openChannel(peer, { runtimeName, id: ++lastChannel }),
  };
}

/** Asks once for the calls of a burst that want the same. */
function oncePerBurst<Key, T>(
  ask: (key: Key) => Promise<T>,
  now: () => number,
): (key: Key) => Promise<T> {
  let last: { at: number; key: Key; answer: Promise<T> } | undefined;
  return (key) => {
    if (last === undefined || last.key !== key || now() - last.at > BURST_MS) {
      last = { at: now(), key, answer: ask(key) };
    }
    return last.answer;
  };
}

/** Refuses with `overloaded` what comes while `max` of it are under way. */
function limiter(max: number, what: string): <T>(run: () => Promise<T>) => Promise<T> {
  let running = 0;
  return async (run) => {
    if (running >= max) {
      throw new ServiceError("overloaded", `${max} ${what} are on their way`, { retryAfterS: 1 });
    }
    running++;
    try {
      return await run();
    } finally {
      running--;
    }
  };
}

/** The process of a channel, its bytes carried by the connection to the authority. */
function openChannel(
  peer: Pick<AuthorityPeer, "call">,
  run: ChannelRun,
): Promise<ChannelWorker> {
  const opened = Promise.withResolvers<ChannelWorker>();
  const closing = new AbortController();
  const said = new TransformStream<Uint8Array, Uint8Array>();
  const output = said.writable.getWriter();
  const worker = {
    streams: {
      readable: said.readable,
      writable: new WritableStream<Uint8Array>({
        write: async (bytes) => {
          // A copy, which is the other end's afterwards.
          const options = { bytes: bytes.slice(), signal: closing.signal };
          await peer.call("channel_input", run.id, options);
        },
      }),
    },
    close: () => closing.abort(new Error("it was closed")),
  };
  const ended: Promise<string> = peer.call("channel", run, {
    signal: closing.signal,
    onProgress(bytes) {
      if (bytes.length > 0) return output.write(bytes);
      // Closing it is an end like any other.
      opened.resolve({ ...worker, ended: ended.catch((error) => toErrorData(error).message) });
    },
  });
  ended.catch(opened.reject);
  // The reason goes ahead of the end of what it said.
  ended.catch(() => {}).then(() => setTimeout(() => output.close().catch(() => {})));
  return opened.promise;
}
