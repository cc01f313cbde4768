/**
 * POST /mcp: this agent as an MCP server over streamable HTTP. Nothing of a client is kept: every
 * request is answered by a server of its own, and a client that leaves cancels its call. The
 * `Mcp-Session-Id` that a client is given only tells its calls under way from those of others, so that
 * it can cancel one by a notice, which is a request of its own.
 *
 * Guard, key and routing are those of every route; what is no message of MCP is answered in the same
 * envelope as everywhere, errors of the protocol in that of JSON-RPC.
 *
 * @module
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Clock } from "../../base/clock.ts";
import { ServiceError } from "../../base/errors.ts";
import type { AgentAccess } from "../../mcp/serve/agent_access.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { Bodies } from "../body.ts";
import { bodyType } from "../guard.ts";
import { EVENT_STREAM_HEADERS, EventStream } from "../sse.ts";
import type { OpenStreams } from "./open_streams.ts";
import type { RequestContext } from "./request_context.ts";

/** Where it is. */
export const MCP_ROUTE = "/mcp";

const SESSION_HEADER = "mcp-session-id";
const MAX_SESSION_CHARS = 200;

/** Bytes of a body: a message of a million characters fits. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** What the route works with. */
export interface McpRouteDeps {
  access: AgentAccess;
  version: string;
  streams: OpenStreams;
  clock: Clock;
  /** Takes secrets out of answers; absent: there are none. */
  scrubber?: Pick<Scrubber, "value">;
}

/** Answers a POST. Throws what is wrong with it. */
export type McpRoute = (request: Request, context: RequestContext) => Promise<Response>;

/** Makes the route. The SDK is loaded by the first request. */
export function createMcpRoute(deps: McpRouteDeps): McpRoute {
  const bodies = new Bodies({ clock: deps.clock, limits: { maxBytes: MAX_BODY_BYTES } });
  const calls = new Map<string, () => void>();
  return async (request, context) => {
    if (bodyType(request) !== "application/json") {
      throw new ServiceError(
        "unsupported_media_type",
        "The header Content-Type must be application/json on this route",
        { param: "Content-Type" },
      );
    }
    const [{ checkMessage }, sdk] = await Promise.all([
      import("../../mcp/serve/message_reader.ts"),
      import("@modelcontextprotocol/sdk/types.js"),
    ]);
    checkVersion(request, sdk.SUPPORTED_PROTOCOL_VERSIONS);
    using body = await bodies.json(request);
    const read = checkMessage(body.value);
    if ("problem" in read) throw new ServiceError("invalid_request", read.problem);
    const { message } = read;
    if (!("method" in message) || !("id" in message)) {
      if ("method" in message && message.method === "notifications/cancelled") {
        calls.get(callKey(request, message.params?.requestId) ?? "")?.();
      }
      return new Response(null, { status: 202 });
    }
    if (message.method !== "tools/call") {
      const response = await wholeAnswer(message, {
        request,
        context,
        deps,
        known: () => () => {},
      });
      if (message.method === "initialize") {
        response.headers.set(SESSION_HEADER, crypto.randomUUID());
      }
      return response;
    }
    const key = callKey(request, message.id);
    const call: Call = {
      request,
      context,
      deps,
      known(cancel) {
        if (key === undefined) return () => {};
        calls.set(key, cancel);
        return () => void (calls.get(key) === cancel && calls.delete(key));
      },
    };
    return acceptsStream(request)
      ? await streamAnswer(message, call)
      : await wholeAnswer(message, call);
  };
}

/** A request on its way. */
interface Call {
  request: Request;
  context: RequestContext;
  deps: McpRouteDeps;
  /** Makes it one that its client can cancel; the result forgets that. */
  known(cancel: () => void): () => void;
}

/** What a call under way is known by; undefined for a client that does not say who it is. */
function callKey({ headers }: Request, id: unknown): string | undefined {
  const session = headers.get(SESSION_HEADER);
  if (session === null || session.length > MAX_SESSION_CHARS) return undefined;
  return JSON.stringify([session, id]);
}

/** The header has to be one that this server speaks, where there is one. */
function checkVersion({ headers }: Request, supported: readonly string[]): void {
  const version = headers.get("mcp-protocol-version");
  if (version === null || supported.includes(version)) return;
  throw new ServiceError(
    "invalid_request",
    `The header MCP-Protocol-Version must be one of ${supported.join(", ")}, got ${
      JSON.stringify(version.slice(0, 50))
    }`,
    { param: "MCP-Protocol-Version" },
  );
}

function acceptsStream({ headers }: Request): boolean {
  return /text\/event-stream|\*\/\*/i.test(headers.get("accept") ?? "");
}

/** One request's way in and out of a server of its own. */
class Exchange implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  readonly #take: (message: JSONRPCMessage) => Promise<void> | undefined;
  #closed = false;

  constructor(take: (message: JSONRPCMessage) => Promise<void> | undefined) {
    this.#take = take;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the client has gone");
    await this.#take(message);
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.onclose?.();
    }
    return Promise.resolve();
  }
}

/** Has a server answer; the result ends that. */
async function begin(
  request: JSONRPCRequest,
  take: (message: JSONRPCMessage) => Promise<void> | undefined,
  context: RequestContext,
  { access, version, clock, scrubber }: McpRouteDeps,
): Promise<() => void> {
  const { createAgentServer } = await import("../../mcp/serve/create_agent_server.ts");
  // `fail` writes to the log what the client must not see.
  const onInternal = (error: unknown) => void context.fail(error);
  const server = createAgentServer({ access, version, clock, onInternal });
  const exchange = new Exchange((message) => take(scrubber?.value(message) ?? message));
  await server.connect(exchange);
  exchange.onmessage?.(request);
  return () => void server.close();
}

async function wholeAnswer(
  message: JSONRPCRequest,
  { request, context, deps, known }: Call,
): Promise<Response> {
  const answered = Promise.withResolvers<JSONRPCMessage>();
  const giveUp = (error: unknown) => answered.reject(error);
  const onAbort = () => giveUp(request.signal.reason);
  request.signal.addEventListener("abort", onAbort, { once: true });
  const forget = deps.streams.add(() =>
    giveUp(new ServiceError("turn_interrupted", "The service is stopping"))
  );
  const unknown = known(() => giveUp(new ServiceError("turn_cancelled", "The call was cancelled")));
  const take = (said: JSONRPCMessage) => {
    if (!("method" in said)) answered.resolve(said);
    return undefined;
  };
  const end = await begin(message, take, context, deps);
  try {
    if (request.signal.aborted) onAbort();
    const body = JSON.stringify(await answered.promise);
    return new Response(body, { headers: { "content-type": "application/json" } });
  } finally {
    request.signal.removeEventListener("abort", onAbort);
    forget();
    unknown();
    end();
  }
}

async function streamAnswer(
  message: JSONRPCRequest,
  { request, context, deps, known }: Call,
): Promise<Response> {
  // Set once there is something to end.
  let end: (() => void) | undefined = undefined as (() => void) | undefined;
  let isOver = false;
  const stop = () => {
    isOver = true;
    end?.();
  };
  const stream = new EventStream({
    clock: deps.clock,
    onEnd(outcome) {
      forget();
      unknown();
      stop();
      context.finish(200, outcome);
    },
  });
  const forget = deps.streams.add(() => {
    const text = "The service is stopping";
    void take({
      jsonrpc: "2.0",
      id: message.id,
      result: { isError: true, content: [{ type: "text", text }] },
    });
    stop();
  });
  // What was cancelled gets no answer.
  const unknown = known(() => {
    stream.close();
    stop();
  });
  const take = (said: JSONRPCMessage) => {
    const written = stream.write(`event: message\ndata: ${JSON.stringify(said)}\n\n`);
    if (!("method" in said)) stream.close();
    return written;
  };
  end = await begin(message, take, context, deps);
  context.streams = true;
  if (isOver || request.signal.aborted) end();
  return new Response(stream.body, { headers: EVENT_STREAM_HEADERS });
}
