/**
 * Serves the agent to one client over standard input and output, until the client has gone.
 *
 * @module
 */

import { type AgentServerOptions, createAgentServer } from "./create_agent_server.ts";
import { StdioServerTransport, type StdioStreams } from "./stdio_server_transport.ts";

/** Resolves when the client has gone, or the signal aborts; calls under way are cancelled then. */
export async function serveStdio(
  options: AgentServerOptions,
  streams: StdioStreams,
  signal: AbortSignal,
): Promise<void> {
  const transport = new StdioServerTransport(streams);
  const server = createAgentServer(options);
  const close = () => void server.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    await server.connect(transport);
    if (signal.aborted) close();
    await transport.ended;
  } finally {
    signal.removeEventListener("abort", close);
    await server.close();
  }
}
