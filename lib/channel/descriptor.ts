/**
 * What a channel's manifest says of it: plain data that needs no package and no platform, so that
 * listing, configuring and disabling a channel never load it.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

/**
 * What a text has to be; empty ones are always right.
 *
 * - `url`: of a server, without a name, a query or a fragment; kept without slashes at its end.
 * - `host`: a name or an address without a port; kept without brackets.
 * - `phone`: a number with its country code; kept as `+` and digits.
 * - `token`: what goes into a header; kept without the blanks that are copied along.
 */
export type TextFormat = "url" | "host" | "phone" | "token";

/** What a text, or each of a list, has to look like; empty ones are always right. */
export interface TextForm {
  /** Of the whole text: an expression with the flag `v`, as that of `pattern` in HTML. */
  pattern: string;
  /** What is right, for people: "expected …". */
  expected: string;
}

/** One setting of a channel. */
export type SetupField =
  | {
    kind: "string";
    format?: "url" | "host" | "phone";
    form?: TextForm;
    default?: string;
    label?: string;
  }
  /** Never shown again once it is stored. */
  | { kind: "secret"; format?: "token"; label?: string }
  | { kind: "int"; default?: number; min?: number; max?: number; label?: string }
  | { kind: "bool"; default?: boolean; label?: string }
  | { kind: "list"; form?: TextForm; default?: readonly string[]; label?: string }
  | { kind: "enum"; choices: readonly string[]; default?: string; label?: string };

/** What a person has to set before the channel can start: one of these fields. */
export interface SetupRequirement {
  /** Names of fields; one of them is enough. */
  fields: readonly string[];
}

/** What a channel's own check of its settings is told. */
export interface SetupContext {
  /** Whether it may name services on this machine and in its network. */
  allowLocalServiceAccess: boolean;
  /** Ends the check: it is not waited for any longer. */
  signal: AbortSignal;
}

/**
 * What `setup.validator` names: looks at settings, and may ask the platform about them. It writes nothing
 * and throws for nothing: what cannot be reached is a warning.
 */
export type SetupValidator = (
  values: Readonly<Record<string, unknown>>,
  context: SetupContext,
) => Promise<SetupFinding[]>;

/** A finding of a channel's own check: settings are never written while there is an error. */
export interface SetupFinding {
  level: "error" | "warning";
  field?: string;
  message: string;
}

/** What `connector` names: connects interactively, such as by a code to scan. */
export interface Connector {
  /**
   * `query`: what the caller sent. Plain data in and out, and never a secret out. All calls of one
   * connection come to one process, which ends with it.
   */
  handle(
    action: "start" | "poll" | "cancel",
    query: Readonly<Record<string, string>>,
    context: ConnectContext,
  ): Promise<ConnectAnswer>;
}

/** What a connector is told of the instance that it connects. */
export interface ConnectContext {
  /** Its section so far, with defaults and the values of secrets; nothing in it has to be set. */
  values: Readonly<Record<string, unknown>>;
  /** Its folder: what its runtime finds there, too. */
  stateDir: string;
  /** As that of a `ChannelHost`. */
  stateKey?: Uint8Array;
  clock: Clock;
  log: Pick<Log, "info" | "warning" | "error">;
}

/** How a connection stands. */
export interface ConnectAnswer {
  state: "waiting" | "connected" | "failed" | "cancelled";
  /** For people: what to do next, or what went wrong. */
  message: string;
  /** To show: a code to type, the text of a QR code, a page to open. */
  show?: { code?: string; qr?: string; url?: string };
  /** What to type, as the label of a field; comes back as `answer` of the query. Absent: nothing. */
  asks?: string;
  /** With `connected`: values of the contract's fields to be stored; the caller never sees them. */
  values?: Readonly<Record<string, unknown>>;
}

/** What can be set, and what must be. */
export interface SetupContract {
  fields: Readonly<Record<string, SetupField>>;
  required: readonly SetupRequirement[];
  /** Module of a check, `channels/<name>/<file>.ts:<export>`; it never writes. */
  validator?: string;
  /** What it is and what it takes, in a line for somebody who chooses, in English; `locales` as below. */
  summary?: string;
  /** How it is set up, in short and in their order, in English; `locales` has other languages. */
  steps?: readonly string[];
}

/** How a channel with several instances is told apart. */
export interface ManagementSpec {
  multiInstance: boolean;
  /** Module of the adapter, `channels/<name>/<file>.ts:<export>`; absent: `accountsAdapter` of this manifest. */
  adapter?: string;
  /**
   * Field that says which account of the platform it is, where no token does: of two instances that are on
   * and have the same one, the second does not run.
   */
  identity?: string;
}

/** What a channel's worker may reach, beside its own section of the configuration. */
export interface ChannelPermissions {
  /**
   * `<host>` or `<host>:<port>`, to connect to or to listen at; `*.<domain>` or `*.<domain>:<port>` for a
   * domain of the platform and what lies under it, never under a public suffix. `{field}` stands for
   * the value of a field
   * of the contract, and an entry with one that is empty falls away: `{imapHost}:{imapPort}`. One with a
   * list is there for each item; `{field}` alone may be a URL, and stands for its host and port.
   */
  hosts: readonly string[];
  /** Folders and files beside its own folder, to read; `{field}` as above. */
  paths: readonly string[];
  /** Variables of the environment. */
  variables: readonly string[];
}

/** What a channel can do beside plain messages. */
export const CHANNEL_CAPABILITIES = [
  /** Answers arrive piece by piece. */
  "streaming",
  "reasoning",
  "progress",
  "media",
  /** Threads, or replies to one message. */
  "replies",
  /** Shows that it is at work on an answer. */
  "typing",
  /** Acknowledges a message by a reaction. */
  "reactions",
  /** Approvals are answered by buttons. */
  "buttons",
  /** What is said in a voice message is heard. */
  "voice",
  /** Hears in groups, where it is addressed. */
  "groups",
  /** What was written while the service was down is heard after the start. */
  "catch_up",
  /** Its session of an encrypted platform can be verified by emoji. */
  "verification",
  /** A send may be repeated without harm: the platform knows its id. */
  "idempotent_send",
  /** Serves connections in the service itself instead of a worker of its own. */
  "in_service",
] as const;

/** One of {@linkcode CHANNEL_CAPABILITIES}. */
export type ChannelCapability = typeof CHANNEL_CAPABILITIES[number];

/** The default export of `channels/<name>/manifest.ts`. */
export interface ChannelDescriptor {
  /** The folder's name, and that of the section in the configuration. */
  name: string;
  displayName: string;
  /** `channels/<name>/runtime.ts:<Class>`; loaded when the channel starts and not before. */
  runtime: string;
  /** `npm:<package>@<version>`, as imports.json has them. */
  dependencies: readonly string[];
  setup: SetupContract;
  /** Absent: one instance. */
  management?: ManagementSpec;
  /** Module that connects interactively, `channels/<name>/<file>.ts:<export>`. */
  connector?: string;
  capabilities: readonly ChannelCapability[];
  /** Whether it is on where the configuration says nothing. */
  defaultActivation: boolean;
  /** `webui/index.ts` or `webui/index.tsx` in its folder: its part of the settings page. */
  webui?: string;
  /**
   * Languages of `locales/<language>.json` in its folder, as BCP 47 has them: labels of the fields, the
   * steps of the setup and the words that the runtime says, beside the English of manifest and code.
   */
  locales?: readonly string[];
  permissions: ChannelPermissions;
  /** Whether its sender ids are immutable and vouched for, so that they may approve. */
  senderVerified: boolean;
}
