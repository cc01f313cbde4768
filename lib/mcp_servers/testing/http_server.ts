/**
 * An MCP server over streamable HTTP on loopback that tests bend, hand-written.
 *
 * @module
 */

/** A request as it came. */
export interface SeenRequest {
  method: string;
  rpc: string | undefined;
  headers: Headers;
}

/** A server on a port of its own. */
export interface HttpMcpServer extends AsyncDisposable {
  port: number;
  url: string;
  seen: SeenRequest[];
  /** Sessions that it knows; taking one out makes it expire. */
  sessions: Set<string>;
  /** Answers in its place when it gives a response. */
  bend: (request: Request, rpc: string | undefined) => Response | Promise<Response> | undefined;
}

/** Starts it. Its one tool is `echo`. */
export function httpMcpServer(): HttpMcpServer {
  const seen: SeenRequest[] = [];
  const sessions = new Set<string>();
  let bend: HttpMcpServer["bend"] = () => undefined;
  const result = (id: unknown, value: unknown, headers: Record<string, string> = {}) =>
    Response.json({ jsonrpc: "2.0", id, result: value }, { headers });

  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { method, headers } = request;
      const body = method === "POST" ? await request.clone().json() : undefined;
      seen.push({ method, rpc: body?.method, headers });
      const bent = await bend(request, body?.method);
      if (bent !== undefined) return bent;
      const session = headers.get("mcp-session-id") ?? "";
      if (method === "GET") return new Response(null, { status: 405 });
      if (method === "DELETE") {
        return new Response(null, {
          status: sessions.delete(session) ? 200 : 404,
        });
      }
      if (body.method === "initialize") {
        const id = crypto.randomUUID();
        sessions.add(id);
        const { protocolVersion } = body.params;
        const about = { name: "http", version: "1" };
        return result(
          body.id,
          { protocolVersion, capabilities: { tools: {} }, serverInfo: about },
          { "mcp-session-id": id },
        );
      }
      if (!sessions.has(session)) return new Response("no such session", { status: 404 });
      switch (body.method) {
        case "tools/list":
          return result(body.id, { tools: [{ name: "echo", inputSchema: { type: "object" } }] });
        case "tools/call":
          return result(body.id, {
            content: [{
              type: "text",
              text: `${session}: ${JSON.stringify(body.params.arguments)}`,
            }],
          });
        case "ping":
          return result(body.id, {});
        default:
          return new Response(null, { status: 202 });
      }
    },
  );
  const { port } = server.addr as Deno.NetAddr;
  return {
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    sessions,
    get bend() {
      return bend;
    },
    set bend(value) {
      bend = value;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
