/**
 * What the authority (main thread) and the service (Worker) say to each other: plain data over the
 * Worker's port. Both unions are closed and switched exhaustively.
 *
 * @module
 */

import type { ChannelModule } from "../channel/channel_spec.ts";
import type { AllowedMessage, CreatedAutomation, Enqueued } from "../contract/ports.ts";
import type { ActionRequest, ActionResult, ApprovalEvent } from "../contract/actions.ts";
import type { LocalConnection, LocalUser } from "./local_users.ts";
import type { Credential } from "../contract/credentials.ts";
import type { OperatorAnswer, OperatorRequest } from "../operations/operator.ts";
import type { SigningKeyAnswer } from "./jwks/signing_key_fetch.ts";
import type { McpServerStatus, OfferedTool } from "../mcp_servers/mcp_servers.ts";
import type { Automation } from "../contract/automation.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import type { PlaceAsked, PlaceTold } from "../place/place_bridge.ts";
import type { Config } from "../config/schema.ts";
import type { ExtractedText } from "../contract/documents.ts";
import type { ErrorData } from "../base/errors.ts";
import type { SecretPrint } from "../secrets/secret_print.ts";

/** Where the service may keep its things; absolute paths. */
export interface ServicePaths {
  /** The SQLite file of the journal. */
  database: string;
  /** Folder of the files that came with messages. */
  mediaDir: string;
  /** Folder of everything that is kept; those of channels lie in it. */
  dataDir: string;
  /** The local socket. */
  socket: string;
}

/** Everything that the service is started with. */
export interface ServiceBoot {
  version: string;
  pid: number;
  /** Resolved: references replaced, presets applied. */
  config: Config;
  paths: ServicePaths;
  /** The journal's file is as this program has closed it. */
  journalUntouched: boolean;
  /** Which listeners to open: `serve` and a gateway with api.enabled have the API. */
  api: boolean;
  /** Whether it runs for longer than one command, and so does what is due. */
  stays: boolean;
  /** Channels to run in the service itself. */
  channels: readonly ChannelModule[];
  /** Channels that have places of their own, those that are switched off too. */
  specs: readonly ChannelSpec[];
  /** By what values of secrets are known, without being them. */
  secretPrints: readonly SecretPrint[];
  /** How many files this process may have open at once; undefined: any number. */
  maxOpenFiles: number | undefined;
  /** Health of what the authority holds, for GET /ready; it says more as it finds out more. */
  checks: Record<string, { ok: boolean; detail: string }>;
}

/** Authority to service. */
export type ToService =
  | PlaceTold
  /** How channels are configured from now on. */
  | { type: "channels"; specs: readonly ChannelSpec[] }
  | { type: "boot"; boot: ServiceBoot }
  /** A command of this very process, speaking the local protocol over a pair of byte streams. */
  | {
    type: "guest";
    readable: ReadableStream<Uint8Array>;
    writable: WritableStream<Uint8Array>;
  }
  | { type: "action_progress"; id: number; text: string }
  | { type: "action_approval"; id: number; event: ApprovalEvent }
  | { type: "action_result"; id: number; result: ActionResult }
  | { type: "operated"; id: number; result: OperatorAnswer | { error: ErrorData } }
  | { type: "instructions"; id: number; text: string }
  /** What MCP servers offer now. */
  | { type: "tools"; id: number; tools: readonly OfferedTool[] }
  /** Answer to `mcp`. */
  | { type: "mcp_status"; id: number; result: McpServerStatus[] | { error: ErrorData } }
  /** Secrets were set or removed. */
  | { type: "secret_prints"; prints: readonly SecretPrint[] }
  | { type: "checks"; checks: ServiceBoot["checks"] }
  /** Answer to `signing_keys`. */
  | {
    type: "signing_key_answer";
    id: number;
    result: { addresses: string[] } | SigningKeyAnswer | { error: ErrorData };
  }
  /** Answer to `local_user`. */
  | { type: "local_user_answer"; id: number; user: LocalUser }
  | { type: "extracted"; id: number; result: ExtractedText | { error: ErrorData } }
  /** The gate has allowed a message for a chat: it belongs into the outbox; `enqueued` answers. */
  | { type: "enqueue"; id: number; message: AllowedMessage }
  /** The gate has allowed an automation that the agent proposes; `automation_created` answers. */
  | { type: "create_automation"; id: number; automationId: string; spec: Automation }
  /** The keys at these dotted paths have new values from now on. */
  | { type: "configure"; config: Config; paths: readonly string[] }
  /**
   * No new turns; running ones get `graceMs` and are then interrupted or put back to waiting; `drained`
   * follows.
   * `afterGuests`: first wait until every guest has gone.
   */
  | { type: "drain"; graceMs: number; afterGuests: boolean };

/** Service to authority. */
export type ToAuthority =
  | PlaceAsked
  | {
    type: "started";
    /** Base URL of the API, or undefined. */
    apiUrl?: string;
    /** Address of the WebSocket server, or undefined. */
    wsUrl?: string;
    model: string;
    modelReason: string;
    /** Turns that the last process left unfinished. */
    interrupted: number;
  }
  | { type: "failed"; error: ErrorData }
  | { type: "action"; id: number; request: ActionRequest }
  | { type: "cancel_action"; id: number }
  /** Whoever opened the turn of this action is not there any more. */
  | { type: "requester_left"; id: number }
  /** Something that only an approver or operator may do; the authority checks the credential. */
  | { type: "operate"; id: number; request: OperatorRequest; credential: Credential }
  /** Asks for the workspace's AGENTS.md. */
  | { type: "get_instructions"; id: number }
  /** Asks for the tools of MCP servers, as far as they are known or soon are. */
  | { type: "get_tools"; id: number }
  /** Asks how MCP servers are; `test` connects to one anew. */
  | { type: "mcp"; id: number; request: { op: "list" } | { op: "test"; server: string } }
  /** Asks how what the authority holds is now; `checks` answers. */
  | { type: "probe" }
  /**
   * Asks for the signing keys of the trusted proxy: from the `jwksUrl` that the authority knows, so there
   * is nothing to say but which step.
   */
  | { type: "signing_keys"; id: number; step: "resolve" | "fetch" }
  /** Asks whether a connection over loopback comes from the service's own user. */
  | { type: "local_user"; id: number; connection: LocalConnection }
  /** Asks for the text of a document; the bytes' buffer is transferred. */
  | { type: "extract"; id: number; name: string; bytes: Uint8Array }
  | { type: "cancel_extract"; id: number }
  | { type: "enqueued"; id: number; result: Enqueued | { error: ErrorData } }
  | { type: "automation_created"; id: number; result: CreatedAutomation | { error: ErrorData } }
  | { type: "drained"; interrupted: number };
