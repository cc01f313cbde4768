/**
 * What the authority and the gateway say to each other: each one's calls and notices, declared once.
 * The gateway serves strangers, so the authority checks what it is asked before anything is done with it.
 *
 * @module
 */

import { z } from "zod";
import type { ChannelModule, ChannelSpec } from "../channel/channel_spec.ts";
import type { AppFile } from "../browser_app/app_files.ts";
import type { AllowedMessage, CreatedAutomation, Enqueued } from "../contract/ports.ts";
import type { ActionRequest, ActionResult, ApprovalEvent } from "../contract/actions.ts";
import type { LocalConnection, LocalUser } from "./local_users.ts";
import type { Credential } from "../contract/credentials.ts";
import type { OperationRequest, OperationResult } from "../operations/operations.ts";
import type { SigningKeyAnswer } from "./jwks/signing_key_fetch.ts";
import type { McpServerStatus, OfferedTool } from "../mcp_servers/mcp_servers.ts";
import type { Automation } from "../contract/automation.ts";
import type { Config } from "../config/schema.ts";
import type { ExtractedText } from "../contract/documents.ts";
import type { SecretFingerprint } from "../secrets/secret_fingerprint.ts";
import type { PairAnswer, StrangerAsked } from "../operations/channels/find_sender.ts";
import type { PruneReport, PruneRequest, Removable, RemovablePage } from "../contract/retention.ts";
import type { ReloadedSettings } from "../contract/reloaded_settings.ts";
import { call, type Check, notice } from "../rpc/endpoint.ts";
import type { Peer } from "../rpc/peer.ts";
import type { ByteStreams } from "../rpc/stream_transport.ts";

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
  /** What the service was configured by; it is told, and not read again. */
  configFile: string;
}

/** Health by name, for GET /ready. */
export type Checks = Record<string, { ok: boolean; detail: string }>;

/** Everything that the gateway is started with. */
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
  /** Channels to run in the gateway itself. */
  channels: readonly ChannelModule[];
  /** Channels that have workers of their own, those that are switched off too. */
  specs: readonly ChannelSpec[];
  /** By what values of secrets are known, without being them. */
  secretFingerprints: readonly SecretFingerprint[];
  /** How many files this process may have open at once; undefined: any number. */
  maxOpenFiles: number | undefined;
  /** Health of what the authority holds; it says more as it finds out more. */
  checks: Checks;
  logLevel: Config["log"]["level"];
  /** Log lines go to the authority, which has the terminal; otherwise to standard error. */
  logsToAuthority: boolean;
}

/** Characters of log lines that are told at once: one write of them, or one line that is longer. */
const MAX_LOG_CHARS = 1024 * 1024;

/** How the gateway came up. */
export interface Started {
  /** Base URL of the API, or undefined. */
  apiUrl?: string;
  /** Address of the WebSocket server, or undefined. */
  wsUrl?: string;
  model: string;
  modelReason: string;
  /** Turns that the last process left unfinished. */
  interrupted: number;
}

/** What is told of an action while it runs. */
export type ActionNews =
  | { type: "progress"; text: string }
  | { type: "approval"; event: ApprovalEvent };

/** With bytes as base64: JSON holds none. */
type Base64<T, K extends keyof T> = Omit<T, K> & { [P in K]: string };

/** An {@linkcode AllowedMessage} on its way. */
export interface SentMessage extends Omit<AllowedMessage, "files"> {
  files?: readonly { name: string; data: string }[];
}

/** A channel whose process is wanted. */
export interface ChannelRun {
  runtimeName: string;
  /** For what it is to read. */
  id: number;
}

/** Kinds of data that the gateway holds. */
export type GatewayKind = "sessions" | "media";

/** Which action of which turn. */
export type ActionKey = Pick<ActionRequest["context"], "turnId" | "callId">;

/** Calls that the gateway may have under way: actions of turns, most of them. */
export const MAX_GATEWAY_CALLS = 10_000;

const MAX_NAME_CHARS = 1_000;
/** As kernels have it. */
const MAX_FOLDER_CHARS = 4_096;
const NAME = z.string().max(MAX_NAME_CHARS);
const FOLDER = z.string().max(MAX_FOLDER_CHARS);
const SOCKET_END = z.object({ address: NAME, port: z.int() });

/**
 * Of the shape that the types say; values are judged by whoever uses them. The schema is made for the first
 * of them: the gateway checks none.
 */
function shape<T>(schema: () => z.ZodType): Check<T> {
  let made: z.ZodType | undefined;
  return (value) => {
    const { success, error } = (made ??= schema()).safeParse(value);
    if (success) return value as T;
    throw new Error(z.prettifyError(error));
  };
}

/** What the authority answers. */
export const AUTHORITY = {
  calls: {
    act: call<ActionRequest, ActionResult, ActionNews>({
      params: shape(() =>
        z.object({
          tool: NAME,
          context: z.object({
            sessionKey: NAME,
            turnId: NAME,
            callId: NAME,
            channel: NAME,
            actor: NAME,
            attended: z.boolean(),
            asks: z.literal(false).optional(),
            folder: FOLDER.optional(),
            personHosts: z.array(z.string()),
            toolUrls: z.array(z.string()),
          }),
        })
      ),
    }),
    /** Something that only an approver or operator may do; the authority checks the credential. */
    operate: call<{ request: OperationRequest; credential: Credential }, OperationResult>({
      params: shape(() =>
        z.object({
          request: z.object({ op: NAME }),
          credential: z.object({ kind: z.enum(["token", "sender", "identity", "issue_secret"]) }),
        })
      ),
    }),
    /** Whether a turn may work in that project; rejects with why it may not. */
    check_folder: call<string, null>({ params: shape(() => FOLDER) }),
    /** AGENTS.md of a project or, with null, of the workspace; or an empty text. */
    instructions: call<string | null, string>({ params: shape(() => FOLDER.nullable()) }),
    /** The tools of MCP servers, as far as they are known or soon are. */
    tools: call<null, readonly OfferedTool[]>(),
    mcp_status: call<null, McpServerStatus[]>(),
    /** Connects to one anew. */
    mcp_test: call<string, McpServerStatus>({ params: shape(() => NAME) }),
    /** A code for a stranger who wrote to a channel, or that they may write now. */
    pair: call<StrangerAsked, PairAnswer>({
      params: shape(() =>
        z.object({ runtimeName: NAME, senderId: NAME, senderName: NAME.optional() })
      ),
    }),
    /** Removes what is over the limits of `retention`, which is all that whoever asks can say. */
    prune: call<PruneRequest, PruneReport>({
      params: shape(() => z.object({ dryRun: z.boolean(), by: NAME })),
    }),
    /** Takes up the configuration file now; the text says who asks. */
    reload: call<string, ReloadedSettings>({ params: shape(() => NAME) }),
    /** Looks anew at the health of what the authority holds. */
    probe: call<null, Checks>(),
    /** Addresses of the host of the `jwksUrl` that the authority knows. */
    resolve_key_host: call<null, string[]>(),
    /** The signing keys of the trusted proxy, from there. */
    fetch_keys: call<null, Base64<SigningKeyAnswer, "body">>(),
    /** Whether a connection over loopback comes from the service's own user. */
    local_user: call<LocalConnection, LocalUser>({
      params: shape(() => z.object({ remote: SOCKET_END, local: SOCKET_END })),
    }),
    /** The files of the browser app. Rejects with why there are none. */
    app_files: call<null, Base64<AppFile, "gzip">[]>(),
    /** The text of a document, whose bytes go with the call. */
    extract: call<{ name: string }, ExtractedText>({
      params: shape(() => z.object({ name: NAME })),
    }),
    /**
     * Runs the process of a channel until the call is cancelled. Told are the bytes that it says, after an
     * empty one when it is there; the answer is why it ended by itself. `id` is the caller's own.
     */
    channel: call<ChannelRun, string, Uint8Array>({
      params: shape(() => z.object({ runtimeName: NAME, id: z.int() })),
    }),
    /** Gives a channel bytes to read, which go with the call; answered when there is room for more. */
    channel_input: call<number, null>({ params: shape(() => z.int()) }),
  },
  notices: {
    /** Whoever opened the turn of this action is not there any more. */
    requester_left: notice<ActionKey>(shape(() => z.object({ turnId: NAME, callId: NAME }))),
    /** No more actions of this turn will come. */
    turn_ended: notice<string>(shape(() => NAME)),
    /** Lines of the gateway's log, where the authority has asked for them. */
    log_lines: notice<string>(shape(() => z.string().max(MAX_LOG_CHARS))),
  },
};

/** What the gateway answers; it trusts the authority. */
export const GATEWAY = {
  calls: {
    start: call<ServiceBoot, Started>(),
    /** Serves a command of this very process until it goes away. The streams are transferred. */
    guest: call<ByteStreams, null>(),
    /** The gate has allowed a message for a chat: it belongs into the outbox. */
    enqueue: call<SentMessage, Enqueued>(),
    /** The gate has allowed an automation that the agent proposes. */
    create_automation: call<{ automationId: string; spec: Automation }, CreatedAutomation>(),
    /** Room that all data of a kind takes. */
    used_bytes: call<GatewayKind, number>(),
    /** What of it nothing needs, the oldest first; see `RetentionStore`. */
    removable: call<{ kind: GatewayKind; after?: string }, RemovablePage>(),
    /** Removes some of that, as far as nothing needs it now. */
    remove: call<{ kind: GatewayKind; items: readonly Removable[] }, Removable[]>(),
    /**
     * No new turns; running ones get `graceMs` and are then interrupted or put back to waiting.
     * `afterGuests`: first wait until every guest has gone.
     */
    drain: call<{ graceMs: number; afterGuests: boolean }, { interrupted: number }>(),
  },
  notices: {
    /** How channels are configured from now on. */
    channels: notice<readonly ChannelSpec[]>(),
    /** Secrets were set or removed. */
    secret_fingerprints: notice<readonly SecretFingerprint[]>(),
    checks: notice<Checks>(),
    /** The keys at these dotted paths have new values from now on. */
    configure: notice<{ config: Config; paths: readonly string[] }>(),
  },
};

/** The authority's end. */
export type GatewayPeer = Peer<typeof AUTHORITY, typeof GATEWAY>;
/** The gateway's end. */
export type AuthorityPeer = Peer<typeof GATEWAY, typeof AUTHORITY>;
