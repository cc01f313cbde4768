/**
 * The service's side of actions: they are asked of the authority, which answers over the bridge.
 *
 * @module
 */

import type { ActionPort, ActionResult, ApprovalEvent } from "../../contract/actions.ts";
import type { McpServerStatus, OfferedTool } from "../../mcp_servers/mcp_servers.ts";
import type { LocalConnection, LocalUser } from "../../authority/local_users.ts";
import type { Credential } from "../../contract/credentials.ts";
import type { OperatorAnswer, OperatorRequest } from "../../operations/operator.ts";
import type { DocumentReader, ExtractedText } from "../../contract/documents.ts";
import { type ErrorData, fromErrorData, ServiceError } from "../../base/errors.ts";
import type { JwksNetwork } from "../../trusted_proxy/fetch_jwks.ts";
import type { ToAuthority, ToService } from "../../authority/bridge.ts";

/** Requests of approvers and operators that are answered at the same time. */
const MAX_OPERATING = 256;
/** Looks at MCP servers that wait at the same time. */
const MAX_MCP_REQUESTS = 64;

/** What may be asked of MCP servers. */
export type McpRequest = Extract<ToAuthority, { type: "mcp" }>["request"];

/** What the authority answers about signing keys. */
type KeyAnswer = Exclude<
  Extract<ToService, { type: "signing_key_answer" }>["result"],
  { error: ErrorData }
>;

/** Everything that the service asks of the authority and waits for. */
export interface AuthorityLink {
  readonly actions: ActionPort;
  /** Reads documents in children of the authority. */
  readonly documents: DocumentReader;
  /** Asks for what only approvers and operators may do; rejects with the authority's ServiceError. */
  operate(request: OperatorRequest, credential: Credential): Promise<OperatorAnswer>;
  /** The workspace's AGENTS.md, or an empty text. */
  instructions(): Promise<string>;
  /** What MCP servers offer; the authority bounds how long that takes. */
  tools(): Promise<readonly OfferedTool[]>;
  /** How MCP servers are; rejects with the authority's ServiceError. */
  mcp(request: McpRequest): Promise<McpServerStatus[]>;
  /** The way to the signing keys of the trusted proxy; the host and the URL are the authority's own. */
  readonly signingKeys: JwksNetwork;
  /** Whether a connection over loopback comes from the service's own user. */
  localUser(connection: LocalConnection): Promise<LocalUser>;
  /** Takes an answer of the authority. */
  receive(
    message: Extract<
      ToService,
      {
        type:
          | "action_progress"
          | "action_approval"
          | "action_result"
          | "operated"
          | "instructions"
          | "tools"
          | "mcp_status"
          | "signing_key_answer"
          | "local_user_answer"
          | "extracted";
      }
    >,
  ): void;
}

/** Links to the authority. `now` in milliseconds. */
export function linkAuthority(
  { send, now }: {
    send: (message: ToAuthority, transfer?: Transferable[]) => void;
    now: () => number;
  },
): AuthorityLink {
  const running = new Map<number, {
    resolve(result: ActionResult): void;
    onProgress(text: string): void;
    onApproval?(event: ApprovalEvent): void;
  }>();
  const operating = new Map<number, PromiseWithResolvers<OperatorAnswer>>();
  const asking = new Map<number, (text: string) => void>();
  const askingTools = new Map<number, (tools: readonly OfferedTool[]) => void>();
  const askingMcp = new Map<number, PromiseWithResolvers<McpServerStatus[]>>();
  const keySteps = new Map<number, PromiseWithResolvers<KeyAnswer>>();
  const askingUsers = new Map<number, (user: LocalUser) => void>();
  const extracting = new Map<number, PromiseWithResolvers<ExtractedText>>();
  let nextId = 1;
  // A burst of turns asks once: the file is read again when the answer is a quarter second old.
  let cached: { at: number; text: Promise<string> } | undefined;

  function askKeys(step: "resolve" | "fetch", signal: AbortSignal): Promise<KeyAnswer> {
    signal.throwIfAborted();
    const id = nextId++;
    const outcome = Promise.withResolvers<KeyAnswer>();
    const abort = () => outcome.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    keySteps.set(id, outcome);
    send({ type: "signing_keys", id, step });
    return outcome.promise.finally(() => {
      keySteps.delete(id);
      signal.removeEventListener("abort", abort);
    });
  }

  return {
    actions: {
      act(request, { signal, onProgress, onApproval, left }) {
        signal.throwIfAborted();
        const id = nextId++;
        const { promise, resolve, reject } = Promise.withResolvers<ActionResult>();
        const abort = () => {
          send({ type: "cancel_action", id });
          reject(signal.reason);
        };
        const leave = () => send({ type: "requester_left", id });
        signal.addEventListener("abort", abort, { once: true });
        left?.addEventListener("abort", leave, { once: true });
        running.set(id, { resolve, onProgress, onApproval });
        send({ type: "action", id, request });
        if (left?.aborted) leave();
        return promise.finally(() => {
          running.delete(id);
          signal.removeEventListener("abort", abort);
          left?.removeEventListener("abort", leave);
        });
      },
    },
    documents: {
      extract({ name, bytes }, { signal }) {
        signal.throwIfAborted();
        const id = nextId++;
        const outcome = Promise.withResolvers<ExtractedText>();
        const abort = () => {
          send({ type: "cancel_extract", id });
          outcome.reject(signal.reason);
        };
        signal.addEventListener("abort", abort, { once: true });
        extracting.set(id, outcome);
        // A copy is transferred: the caller's bytes are still to be kept.
        const copy = bytes.slice();
        send({ type: "extract", id, name, bytes: copy }, [copy.buffer]);
        return outcome.promise.finally(() => {
          extracting.delete(id);
          signal.removeEventListener("abort", abort);
        });
      },
    },
    operate(request, credential) {
      if (operating.size >= MAX_OPERATING) {
        const error = new ServiceError("overloaded", `${MAX_OPERATING} answers are on their way`, {
          retryAfterS: 1,
        });
        return Promise.reject(error);
      }
      const id = nextId++;
      const outcome = Promise.withResolvers<OperatorAnswer>();
      operating.set(id, outcome);
      send({ type: "operate", id, request, credential });
      return outcome.promise;
    },
    instructions() {
      if (cached === undefined || now() - cached.at > 250) {
        const id = nextId++;
        const { promise, resolve } = Promise.withResolvers<string>();
        asking.set(id, resolve);
        send({ type: "get_instructions", id });
        cached = { at: now(), text: promise };
      }
      return cached.text;
    },
    tools() {
      const id = nextId++;
      const { promise, resolve } = Promise.withResolvers<readonly OfferedTool[]>();
      askingTools.set(id, resolve);
      send({ type: "get_tools", id });
      return promise;
    },
    mcp(request) {
      if (askingMcp.size >= MAX_MCP_REQUESTS) {
        const error = new ServiceError(
          "overloaded",
          `${MAX_MCP_REQUESTS} looks at MCP servers are on their way`,
          { retryAfterS: 1 },
        );
        return Promise.reject(error);
      }
      const id = nextId++;
      const outcome = Promise.withResolvers<McpServerStatus[]>();
      askingMcp.set(id, outcome);
      send({ type: "mcp", id, request });
      return outcome.promise;
    },
    signingKeys: {
      async resolve(_host, signal) {
        const answer = await askKeys("resolve", signal);
        if (!("addresses" in answer)) throw new Error("the authority answered another step");
        return answer.addresses;
      },
      async fetchAt({ signal }) {
        const answer = await askKeys("fetch", signal);
        if (!("status" in answer)) throw new Error("the authority answered another step");
        const { status, headers, body } = answer;
        // Of a status without a body none may be given.
        return new Response(status === 200 ? body : null, { status, headers });
      },
    },
    localUser(connection) {
      const id = nextId++;
      const { promise, resolve } = Promise.withResolvers<LocalUser>();
      askingUsers.set(id, resolve);
      send({ type: "local_user", id, connection });
      return promise;
    },
    receive(message) {
      switch (message.type) {
        case "action_progress":
          running.get(message.id)?.onProgress(message.text);
          break;
        case "action_approval":
          running.get(message.id)?.onApproval?.(message.event);
          break;
        case "action_result":
          running.get(message.id)?.resolve(message.result);
          break;
        case "operated": {
          const { id, result } = message;
          const outcome = operating.get(id);
          operating.delete(id);
          if ("error" in result) outcome?.reject(fromErrorData(result.error));
          else outcome?.resolve(result);
          break;
        }
        case "extracted": {
          const { result } = message;
          const outcome = extracting.get(message.id);
          if ("error" in result) outcome?.reject(fromErrorData(result.error));
          else outcome?.resolve(result);
          break;
        }
        case "instructions":
          asking.get(message.id)?.(message.text);
          asking.delete(message.id);
          break;
        case "tools":
          askingTools.get(message.id)?.(message.tools);
          askingTools.delete(message.id);
          break;
        case "local_user_answer":
          askingUsers.get(message.id)?.(message.user);
          askingUsers.delete(message.id);
          break;
        case "signing_key_answer": {
          const { result } = message;
          const outcome = keySteps.get(message.id);
          if ("error" in result) outcome?.reject(fromErrorData(result.error));
          else outcome?.resolve(result);
          break;
        }
        case "mcp_status": {
          const { id, result } = message;
          const outcome = askingMcp.get(id);
          askingMcp.delete(id);
          if ("error" in result) outcome?.reject(fromErrorData(result.error));
          else outcome?.resolve(result);
          break;
        }
      }
    },
  };
}
