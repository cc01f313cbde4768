/**
 * How the service is.
 *
 * @module
 */

import { z } from "zod";
import { gatewayOperation } from "./operation.ts";

const count = z.int().min(0);

const serviceStatus = z.object({
  version: z.string(),
  uptime_s: count,
  model_name: z.string(),
  model_reason: z.string(),
  connections: count.describe("Sockets that are open."),
  chats: count.describe("Chats that they follow."),
  turns: z.object({ running: count, queued: count }),
  outbox: count.describe("Messages that wait to be delivered."),
  pid: z.int(),
  config_file: z.string().describe("Absolute path of the configuration that it started with."),
  api_url: z.string().optional().describe("Absent where the HTTP API is off."),
  ws_url: z.string().optional(),
  guests: count.describe("Commands that are connected."),
  counts: z.object({
    pending_writes: count,
    waiting_followers: count,
    open_turns: count,
    open_streams: count,
  }).describe("Come back to nothing when nobody asks for anything."),
  checks: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string() }))
    .describe("Health, as it was when it was last looked at."),
}).describe("What is in motion.");

/** How a service is. */
export type ServiceStatus = z.infer<typeof serviceStatus>;

/** What these work on. */
export interface StatusParts {
  status(): ServiceStatus;
}

/** Operations on the service as a whole. */
export const SERVICE = {
  "service.status": gatewayOperation({
    summary: "Show the version, the model, and what is in motion",
    scope: "read",
    command: "status",
    input: z.object({}),
    output: serviceStatus,
    route: { method: "GET", path: "/api/webui/status" },
    run: (_, { status }) => status(),
  }),
};
