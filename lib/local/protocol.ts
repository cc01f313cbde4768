/**
 * How a command of this program talks to the service of its home: JSON lines over a byte stream,
 * which is the local socket, or, in the process that owns the home, a pair of transferred streams.
 *
 * A client sends requests with ids of its own choosing; the service answers each with any number of
 * `data` lines and then one `end` or `error`. A client that goes away cancels its requests.
 *
 * @module
 */

import type { StoredEvent } from "../contract/events.ts";
import type { TextPart } from "../contract/text_part.ts";
import type { OperatorAnswer, OperatorRequest } from "../operations/operator.ts";
import type { McpServerStatus } from "../mcp_servers/mcp_servers.ts";
import type { Granted } from "../approvals/commission/commissions.ts";
import type { AutomationView, RunView } from "../automation/automation_view.ts";
import type { ChannelStatus } from "../channel/channel_status.ts";
import type { CommissionReport, CurrentFinding } from "../automation/commission_report.ts";
import type { ErrorData } from "../base/errors.ts";
import type { Published } from "../contract/inbound_message.ts";
import type { MissedRow } from "../contract/journal.ts";
import type { HistoryPage, OutboxRow, Session, StoredMessage, Turn } from "../contract/journal.ts";

/** Longest line, bytes: 64 MiB of files are 86 MiB of base64, and there is the text. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** A piece of what a command asks. What a file is, the service finds out; `data` is base64. */
export type AskedPart = { type: "text" } & TextPart | {
  type: "file";
  name: string;
  data: string;
};

/** What a service answers that has automations; the part of {@linkcode Operations} about them. */
export interface AutomationOperations {
  /** In the order of ids, after one. */
  automations: { params: { after?: string; limit: number }; data: AutomationView };
  automation: { params: { id: string }; data: AutomationView };
  /** `automation` as somebody wrote it; the service checks it. */
  automation_create: { params: { automation: unknown }; data: AutomationView };
  /** Fields to change; null takes one away. */
  automation_update: { params: { id: string; change: unknown }; data: AutomationView };
  automation_enable: { params: { id: string; enabled: boolean }; data: AutomationView };
  automation_delete: { params: { id: string }; data: { id: string; deleted: true } };
  /** The same `requestId` again is the same run. */
  automation_run: { params: { id: string; requestId?: string }; data: RunView };
  /** Newest first, before one. */
  automation_history: { params: { id: string; before?: number; limit: number }; data: RunView };
  /** Rehearses it; one datum at the end. The authority checks the token, here and in the next two. */
  automation_commission: { params: { id: string; token: string }; data: CommissionReport };
  automation_finding: { params: { id: string; token: string }; data: CurrentFinding };
  /** `digest`: of the finding. */
  automation_grant: { params: { id: string; token: string; digest: string }; data: Granted };
}

/** What a service answers about messages for channels; the part of {@linkcode Operations} about them. */
export interface OutboxOperations {
  /** In the order in which they came, after one; of these states and this runtime name alone. */
  outbox: {
    params: {
      after?: number;
      limit: number;
      states?: readonly OutboxRow["state"][];
      channel?: string;
    };
    data: OutboxRow;
  };
  /** Waits again, whatever became of it but `sent`. */
  outbox_resend: { params: { message: number }; data: OutboxRow };
  /** Is given up. */
  outbox_drop: { params: { message: number }; data: OutboxRow };
}

/** What a service answers that runs channels; the part of {@linkcode Operations} about them. */
export interface ChannelOperations {
  /** How each instance is, those too that are switched off. */
  channels: { params: Record<never, never>; data: ChannelStatus };
  /**
   * Sends a message to a chat. Data: its row, each time that it has changed, until it is delivered, or
   * given up, or `waitMs` are over.
   */
  channel_send: {
    params: { runtimeName: string; chatId: string; text: string; waitMs: number };
    data: OutboxRow;
  };
  /** Messages that came too late to be answered, in the order in which they came, after one. */
  missed: { params: { after?: number; limit: number; channel?: string }; data: MissedRow };
  /** Lists none of them any longer. */
  missed_clear: { params: { channel?: string }; data: { cleared: number } };
  /** Takes one as if it had just come. */
  missed_answer: { params: { message: number }; data: Published };
}

/** Each operation: what it is given and what each `data` line of its answer holds. */
export interface Operations extends AutomationOperations, OutboxOperations, ChannelOperations {
  /** One turn; data are its events. Ends after `turn_end`. */
  turn: {
    params: {
      /** Full key, such as `cli:default`. */
      sessionKey: string;
      input: AskedPart[];
      /** A preset or `<provider>/<id>` instead of the configured model. */
      model?: string;
    };
    data: StoredEvent;
  };
  sessions: { params: { limit: number; before?: number }; data: Session };
  /**
   * A session, then its messages, oldest first: all of them, or with `limit` the newest, or those
   * before a message's id.
   */
  session: {
    params: { key: string; limit?: number; before?: number };
    data:
      | { session: Session; page?: Omit<HistoryPage, "messages"> }
      | { message: StoredMessage };
  };
  /** The session as it is then. */
  rename: { params: { key: string; title: string }; data: Session };
  /**
   * A new session of what stands before a message of a person, by its index from 0. `as`: its full
   * key; else one like the source's that is free.
   */
  fork: { params: { key: string; beforeUserIndex: number; as?: string }; data: Session };
  /** Everything on record of a session, oldest first. */
  export: {
    params: { key: string };
    data:
      | { kind: "session"; session: Session }
      | { kind: "turn"; turn: Turn }
      | { kind: "message"; message: StoredMessage }
      | { kind: "event"; event: StoredEvent };
  };
  delete: { params: { key: string }; data: { deleted: boolean } };
  /** Something that only an approver or operator may do; the authority checks the token. */
  operate: { params: { token: string; request: OperatorRequest }; data: OperatorAnswer };
  /** How MCP servers are; `test` connects to one anew. */
  mcp: { params: { op: "list" } | { op: "test"; server: string }; data: McpServerStatus };
  status: {
    params: Record<never, never>;
    data: {
      version: string;
      pid: number;
      apiUrl?: string;
      wsUrl?: string;
      model: string;
      modelReason: string;
      runningTurns: number;
      queuedTurns: number;
      guests: number;
      /** What is in motion and must come back to nothing when nobody asks for anything. */
      counts: {
        pendingWrites: number;
        waitingFollowers: number;
        openTurns: number;
        openStreams: number;
      };
      checks: Record<string, { ok: boolean; detail: string }>;
    };
  };
}

/** Name of an operation. */
export type Operation = keyof Operations;

/** Client to service. `cancel` stops the request of that id. */
export type LocalRequest =
  | { [Op in Operation]: { id: number; op: Op; params: Operations[Op]["params"] } }[Operation]
  | { id: number; op: "cancel" };

/** Service to client. */
export type LocalResponse =
  | { id: number; data: unknown }
  | { id: number; end: true }
  | { id: number; error: ErrorData };
