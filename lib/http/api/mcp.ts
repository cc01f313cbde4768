/**
 * POST /mcp: this agent as an MCP server over streamable HTTP, without sessions of the transport: every
 * request is answered by a server of its own, and a client that leaves cancels its call.
 *
 * Guard, key and routing are those of every route; what is no message of MCP is answered in the same
 * envelope as everywhere, errors of the protocol in that of JSON-RPC.
 *
 * @module
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Clock } from "../../agent/clock.ts";
import { ServiceError } from "../../errors.ts";
import type { AgentAccess } from "../../mcp/serve/agent_access.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { Bodies } from "../body.ts";
import { bodyType } from "../guard.ts";
import { EVENT_STREAM_HEADERS, EventStream } from "../sse.ts";
import type { OpenStreams } from "./open_streams.ts";
import type { RequestContext } from "./request_context.ts";

/** Where it is. */
export const MCP_ROUTE = "/mcp";

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
    // Notices have no answer, and without a session nothing that they could be about.
    if (!("method" in message) || !("id" in message)) return new Response(null, { status: 202 });
    const isStream = message.method === "tools/call" && acceptsStream(request);
    return isStream
      ? await streamAnswer(message, request, context, deps)
      : await wholeAnswer(message, request, context, deps);
  };
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
  request: Request,
  context: RequestContext,
  deps: McpRouteDeps,
): Promise<Response> {
  const answered = Promise.withResolvers<JSONRPCMessage>();
  const onAbort = () => answered.reject(request.signal.reason);
  request.signal.addEventListener("abort", onAbort, { once: true });
  const forget = deps.streams.add(() =>
    answered.reject(new ServiceError("turn_interrupted", "The service is stopping"))
  );
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
    end();
  }
}

async function streamAnswer(
  message: JSONRPCRequest,
  request: Request,
  context: RequestContext,
  deps: McpRouteDeps,
): Promise<Response> {
  let end = () => {};
  const stream = new EventStream({
    clock: deps.clock,
    onEnd(outcome) {
      forget();
      end();
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
    end();
  });
  const take = (said: JSONRPCMessage) => {
    const written = stream.write(`event: message\ndata: ${JSON.stringify(said)}\n\n`);
    if (!("method" in said)) stream.close();
    return written;
  };
  end = await begin(message, take, context, deps);
  context.streams = true;
  if (request.signal.aborted) end();
  return new Response(stream.body, { headers: EVENT_STREAM_HEADERS });
}
