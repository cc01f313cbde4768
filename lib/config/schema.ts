/**
 * The configuration: one zod schema that gives the types, the checks, the defaults and
 * `config.schema.json`.
 *
 * Each key says what a change of it takes: `live` (the default) works for the next turn, `restart`
 * only after `service restart`, `provider` one or the other. Unknown keys warn, but refuse to load
 * inside the sections marked
 * `strict`.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES } from "../contract/actions.ts";
import { isTarget, TARGET_FORM } from "../base/chat_address.ts";
import { HOST_PATTERN_FORM, isHostPattern } from "../base/host_pattern.ts";

/** What stands in a key's `.meta()` beside its description. */
export interface KeyMeta {
  /** What people call it; `webui/setup/words/` has other languages. */
  title?: string;
  description?: string;
  /**
   * When a change of it takes effect. `provider`: live, where the running service has every provider
   * that it leads to as the file has it, and so may reach its host; else after a restart.
   */
  takes?: "live" | "provider" | "restart";
  /** Its value is never shown. */
  secret?: boolean;
  /** A text that people write in several lines. */
  multiline?: boolean;
  /** An unknown key in this object refuses to load. */
  strict?: boolean;
  /**
   * Keys that are not named here belong to a part of the program that checks them itself: every
   * one, or those that hold an object.
   */
  open?: "keys" | "sections";
  /** What a change of such keys takes; unset: what the section takes. */
  openTakes?: "live" | "restart";
}

/** A section whose every key has a default, so that an absent section is the same as an empty one. */
function section<Shape extends z.core.$ZodLooseShape>(shape: Shape, meta: KeyMeta) {
  return z.looseObject(shape).prefault({} as never).meta({ ...meta });
}

const preset = z.looseObject({
  model: z.string().min(1).meta({ title: "Model", description: "<provider>/<model id>." }),
  temperature: z.number().min(0).max(2).optional().meta({
    title: "Temperature",
    description: "0 to 2.",
  }),
  maxOutputTokens: z.int().min(1).optional().meta({
    title: "Longest answer",
    description: "Tokens of one answer.",
  }),
});

const agent = section({
  model: z.string().default("").meta({
    title: "Model",
    description:
      "<provider>/<model id>. Empty: the first provider that has a key, else the built-in offline model.",
    takes: "provider",
  }),
  fallbacks: z.array(z.string()).default([]).meta({
    title: "Fallback models",
    description: "Models tried in this order when the model cannot be reached, is overloaded, or " +
      "sends nothing for stallTimeoutS.",
    takes: "provider",
  }),
  preset: z.string().default("").meta({
    title: "Preset in force",
    description: "Name of the preset in force; its values go over model and temperature.",
    takes: "provider",
  }),
  presets: z.record(z.string(), preset).default({}).meta({
    title: "Presets",
    description: "Named sets of a model and its settings.",
    takes: "provider",
  }),
  temperature: z.number().min(0).max(2).optional().meta({
    title: "Temperature",
    description: "0 to 2; unset: the provider's default.",
    takes: "provider",
  }),
  maxOutputTokens: z.int().min(1).optional().meta({
    title: "Longest answer",
    description: "Tokens of one answer; unset: the provider's default.",
    takes: "provider",
  }),
  workspace: z.string().default("").meta({
    title: "Workspace",
    description: "Folder that the agent works in. Empty: workspace in the home folder.",
    takes: "restart",
  }),
  instructions: z.string().default("").meta({
    title: "Instructions",
    multiline: true,
    description:
      "Instructions of this deployment; they stand in the system prompt before AGENTS.md.",
  }),
  contextTokens: z.int().min(2_000).max(10_000_000).default(100_000).meta({
    title: "Context size",
    description: "Tokens of context; older messages are summarized before it is full.",
  }),
  maxSteps: z.int().min(1).max(1_000).default(50).meta({
    title: "Most steps of a turn",
    description: "Model calls in one turn.",
  }),
  turnTimeoutS: z.number().min(1).max(86_400).default(600).meta({
    title: "Time limit of a turn",
    description: "Seconds that a turn may take.",
  }),
  drainTimeoutS: z.number().min(0).max(3_600).default(30).meta({
    title: "Time to finish at a stop",
    description:
      "Seconds that running turns get when the service stops; then those of chats, automations and the background wait for the next start, and others end as interrupted.",
    takes: "restart",
  }),
  stallTimeoutS: z.number().min(1).max(86_400).default(180).meta({
    title: "Time until a turn counts as stuck",
    description: "Seconds without any sign of life after which a turn counts as stuck.",
  }),
}, { description: "The agent: its model, its folder and its bounds." });

const provider = z.looseObject({
  type: z.enum(["openai", "anthropic", "openai-compatible"]).optional().meta({
    title: "Protocol",
    description: "Wire of the provider; unset: the provider's own name, else openai-compatible.",
  }),
  baseUrl: z.url({ protocol: /^https?$/ }).optional().meta({
    title: "Address",
    description: "Base URL, such as http://127.0.0.1:11434/v1.",
  }),
  apiKey: z.string().default("").meta({
    title: "API key",
    description: "Key, ${ENV_VAR} or ${secret:NAME}.",
    secret: true,
  }),
  model: z.string().default("").meta({
    title: "Usual model",
    description: "Model id when agent.model is unset.",
  }),
  headers: z.record(z.string(), z.string()).default({}).meta({
    title: "Request headers",
    description: "Further request headers.",
    secret: true,
  }),
});

const perMillion = z.number().min(0).max(1_000_000);

const price = z.looseObject({
  input: perMillion.meta({
    title: "Input",
    description: "Of a million input tokens, in any currency.",
  }),
  output: perMillion.meta({ title: "Output", description: "Of a million output tokens." }),
  cachedInput: perMillion.optional().meta({
    title: "Cached input",
    description: "Of a million input tokens that the provider's cache had; unset: as input.",
  }),
});

const api = section({
  enabled: z.boolean().default(false).meta({
    title: "HTTP API",
    description: "Serve the API from the gateway.",
  }),
  host: z.string().min(1).default("127.0.0.1").meta({
    title: "Address",
    description: "Bind address.",
  }),
  port: z.int().min(0).max(65_535).default(8900).meta({
    title: "Port",
    description: "Port; 0: a free one.",
  }),
  apiKey: z.string().default("").meta({
    title: "API key",
    description: "Bearer secret; required beyond loopback.",
    secret: true,
  }),
  timeoutS: z.number().min(1).max(86_400).default(600).meta({
    title: "Time limit of a request",
    description: "Seconds that a request's turn may take.",
  }),
  authFailuresPerMinute: z.int().min(1).max(1_000_000).default(100).meta({
    title: "Wrong keys a minute",
    description: "Wrong keys a minute from one address, before 429.",
  }),
  allowedHosts: z.array(z.string()).default([]).meta({
    title: "Accepted host names",
    description: "Host header names accepted beside IP literals and loopback names.",
  }),
  allowedOrigins: z.array(z.string()).default([]).meta({
    title: "Accepted browser origins",
    description: "Browser origins accepted, such as https://app.example.",
  }),
  attended: z.boolean().default(true).meta({
    title: "A person is there",
    description: "Whether a turn over the API counts as one with a person there.",
    takes: "live",
  }),
  mcp: z.boolean().default(false).meta({
    title: "MCP server",
    description: "Serve POST /mcp, so that other agents can use this one; takes api.apiKey.",
  }),
  openResponsesDone: z.boolean().default(false).meta({
    title: "End streams with [DONE]",
    description: "End a responses stream with [DONE].",
  }),
}, { description: "The HTTP API.", takes: "restart" });

// An unknown key here could be a misspelt check of who may come in.
const trustedProxyAuth = z.looseObject({
  trustedPeerCidrs: z.array(z.string()).min(1).meta({
    title: "Networks of the proxy",
    description: "Networks of the proxies, such as 10.0.0.0/8.",
  }),
  assertionHeader: z.string().min(1).meta({
    title: "Header that names the person",
    description: "Header that the proxy adds.",
  }),
  assertionFormat: z.enum(["jwt", "plain"]).default("jwt").meta({
    title: "Format of the header",
    description: "jwt verifies a signature; plain trusts the header of a listed network.",
  }),
  issuer: z.string().default("").meta({
    title: "Issuer",
    description: "Value of the claim iss, for jwt.",
  }),
  audience: z.string().default("").meta({
    title: "Audience",
    description: "Value of the claim aud, for jwt.",
  }),
  jwksUrl: z.string().default("").meta({
    title: "Address of signing keys",
    description: "Where the signing keys are.",
  }),
  jwks: z.record(z.string(), z.unknown()).nullable().default(null).meta({
    title: "Signing keys",
    description: "The signing keys, instead of jwksUrl.",
  }),
  identityClaim: z.string().min(1).default("email").meta({
    title: "Claim of the person",
    description: "Claim that names the person.",
  }),
  allowedIdentities: z.array(z.string()).default([]).meta({
    title: "People who may come in",
    description: "Values of that claim that may come in.",
  }),
  workspaceKeyClaim: z.string().min(1).default("sub").meta({
    title: "Claim of the storage",
    description: "Claim under which a person's chats are stored.",
  }),
  signOutPath: z.string().default("").meta({
    title: "Path to sign out",
    description: "The proxy's path to sign out.",
  }),
  requiredClaims: z.record(z.string(), z.unknown()).default({}).meta({
    title: "Required claims",
    description: "Other claims and the values that they must have.",
  }),
  allowAnyVerifiedIdentity: z.boolean().default(false).meta({
    title: "Let everyone in",
    description: "Let in everyone whom the proxy names.",
  }),
}).meta({ strict: true });

const channels = section({
  sendProgress: z.boolean().default(true).meta({
    title: "Send progress",
    description: "Deliver progress.",
  }),
  sendToolHints: z.boolean().default(true).meta({
    title: "Send tool hints",
    description: "Deliver tool breadcrumbs.",
  }),
  showReasoning: z.boolean().default(true).meta({
    title: "Send reasoning",
    description: "Deliver reasoning.",
  }),
  sendMaxRetries: z.int().min(0).max(100).default(3).meta({
    title: "Delivery attempts",
    description: "Attempts to deliver a message; 0 counts as 1.",
  }),
  catchUpS: z.int().min(60).max(2_592_000).default(86_400).meta({
    title: "Answer messages up to this age",
    description:
      "Seconds after which a message that comes in is listed and not answered, 60 to 2592000.",
  }),
  pairing: z.enum(["first", "on", "off"]).default("first").meta({
    title: "Pairing codes for strangers",
    description:
      "Whether a stranger who writes to the bot alone gets a code, with which you let them write: on; first: while allowFrom lists nobody; off. Only on channels that verify their senders.",
    takes: "live",
  }),
  allowLocalServiceAccess: z.boolean().default(true).meta({
    title: "Allow local services",
    description:
      "Whether settings of channels may name services on this machine and in its network.",
    takes: "live",
  }),
  websocket: section({
    enabled: z.boolean().default(true).meta({
      title: "WebSocket and browser app",
      description: "Serve it from the gateway.",
    }),
    host: z.string().min(1).default("127.0.0.1").meta({
      title: "Address",
      description: "Bind address; one beyond loopback needs token, tokenIssueSecret or a proxy.",
    }),
    port: z.int().min(0).max(65_535).default(8765).meta({
      title: "Port",
      description: "Port; 0: a free one.",
    }),
    socketPath: z.string().default("").meta({
      title: "Unix socket",
      description: "Absolute path of a Unix socket to listen on instead of host and port.",
    }),
    path: z.string().default("/").meta({
      title: "Path",
      description: "Path of the upgrade; a slash at its end does not count.",
    }),
    publicWsUrl: z.string().default("").meta({
      title: "Public address",
      description: "The ws:// or wss:// address that clients are told, behind a reverse proxy.",
    }),
    maxMessageBytes: z.int().min(1_024).max(41_943_040).default(37_748_736).meta({
      title: "Largest message",
      description: "Bytes of one message from a client, 1 KiB to 40 MiB.",
    }),
    token: z.string().default("").meta({
      title: "Shared secret",
      description: "Secret that every client has to show, beside issued tokens.",
      secret: true,
    }),
    websocketRequiresToken: z.boolean().default(true).meta({
      title: "Clients need a token",
      description: "Whether a client needs a token; false is for networks that are trusted.",
    }),
    tokenIssuePath: z.string().default("").meta({
      title: "Path of tokens",
      description: "Path that gives out short-lived tokens; empty: none does.",
    }),
    tokenIssueSecret: z.string().default("").meta({
      title: "Secret to sign in",
      description: "Secret that is needed there and for bootstrap; empty: token, if that is set.",
      secret: true,
    }),
    tokenTtlS: z.int().min(30).max(86_400).default(300).meta({
      title: "Lifetime of tokens",
      description: "Seconds that an issued token holds, 30 to 86400.",
    }),
    trustedProxyAuth: trustedProxyAuth.nullable().default(null).meta({
      title: "Sign-in by a proxy",
      description: "A proxy in front that says who the person is; null: none.",
    }),
    allowFrom: z.array(z.string()).default(["*"]).meta({
      title: "Clients that may come in",
      description: "Ids of clients that may come in; * for all, an empty list for none.",
    }),
    allowedHosts: z.array(z.string()).default([]).meta({
      title: "Accepted host names",
      description: "Host header names accepted beside IP literals and loopback names.",
    }),
    allowedOrigins: z.array(z.string()).default([]).meta({
      title: "Accepted browser origins",
      description: "Browser origins accepted, such as https://app.example.",
    }),
    authFailuresPerMinute: z.int().min(1).max(1_000_000).default(100).meta({
      title: "Wrong tokens a minute",
      description: "Wrong tokens a minute from one address, before 429.",
    }),
    maxConnectionsPerAddress: z.int().min(1).max(1_000_000).default(1_000).meta({
      title: "Connections of one address",
      description: "Connections of one address at once.",
    }),
    streaming: z.boolean().default(true).meta({
      title: "Stream answers",
      description: "Send answers piece by piece; false: whole.",
    }),
    sendProgress: z.boolean().optional().meta({
      title: "Send progress",
      description: "Send progress; unset: channels.sendProgress.",
    }),
    sendToolHints: z.boolean().optional().meta({
      title: "Send tool hints",
      description: "Send tool breadcrumbs; unset: channels.sendToolHints.",
    }),
    showReasoning: z.boolean().optional().meta({
      title: "Send reasoning",
      description: "Send reasoning; unset: channels.showReasoning.",
    }),
    pingIntervalS: z.number().min(5).max(300).default(20).meta({
      title: "Time between pings",
      description: "Seconds between pings, 5 to 300.",
    }),
    pingTimeoutS: z.number().min(5).max(300).default(20).meta({
      title: "Time to answer a ping",
      description: "Seconds that a pong may take before the connection is closed, 5 to 300.",
    }),
    sslCertfile: z.string().default("").meta({
      title: "TLS certificate",
      description:
        "PEM file of the certificate, for wss://; with sslKeyfile. A relative path begins at the configuration's folder.",
    }),
    sslKeyfile: z.string().default("").meta({
      title: "TLS private key",
      description: "PEM file of its private key, likewise.",
    }),
  }, { title: "WebSocket", description: "The WebSocket channel." }),
}, {
  description: "Channels; each has a section of its own name.",
  takes: "restart",
  open: "sections",
  openTakes: "live",
});

/** Without what a person cannot see, since these are compared exactly. */
const plainText = (max: number) =>
  z.string().min(1).max(max).refine(
    (text) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text) && text === text.trim(),
    "text without blanks around it and without hidden characters",
  );
const names = z.array(plainText(256)).min(1).max(100);

// An empty list would match nothing, and so be a rule that only looks like one.
const rule = z.looseObject({
  name: z.string().refine(
    (text) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text),
    "a name of A-Z, a-z, 0-9, ., _ and -, at most 64 characters",
  ).meta({
    title: "Name",
    description: "Stands in records and refusals; no two rules have the same.",
  }),
  effect: z.enum(["allow", "ask", "deny"]).meta({
    title: "Effect",
    description: "What happens to an action that the rule matches.",
  }),
  capabilities: z.array(z.enum(CAPABILITIES)).min(1).optional().meta({
    title: "Capabilities",
    description: "What the action does; unset: anything.",
  }),
  targets: z.array(z.string().min(1)).min(1).max(100).optional().meta({
    title: "Targets",
    description:
      "What it really touches, by capability: paths for fs.read and fs.write (/… or workspace/…, with *, ? and **), <host>, <host>:<port> or *.<host> for net.fetch, <channel>:<chat_id> or <channel>:* for message.send, whole commands as a JSON list or a shell text for exec. Unset: anything.",
  }),
  channels: names.optional().meta({
    title: "Channels",
    description: "Where the turn came from: cli, api, or a channel's name; unset: from anywhere.",
  }),
  actors: names.optional().meta({
    title: "People",
    description: "Who opened the turn, such as cli:local or telegram:12345; unset: anybody.",
  }),
  reason: plainText(300).optional().meta({ title: "Reason", description: "For people: why." }),
}).meta({ strict: true });

const gates = section({
  rules: z.array(rule).max(500).default([]).meta({
    title: "Rules",
    description:
      "Rules about actions; the first that matches decides. They come before the default rules, and after what no rule can change: `service policy show`.",
  }),
  approvalTimeoutS: z.int().min(1).max(300).default(120).meta({
    title: "Time to answer an approval",
    description: "Seconds that an approval waits, 1 to 300.",
  }),
  approvers: z.array(
    z.string().refine(
      (text) => /^[A-Za-z][A-Za-z0-9_]*:[^\s\p{C}]{1,256}$/u.test(text),
      "<channel>:<immutable id of a sender>, such as telegram:12345",
    ),
  ).max(1_000).default([]).meta({
    title: "Approvers",
    description:
      "Senders who may answer approvals from a chat: <channel>:<immutable id>, on channels that verify their senders alone.",
  }),
  independentApprover: z.boolean().default(false).meta({
    title: "Somebody else approves",
    description: "Whether somebody else than whoever opened the turn has to answer an approval.",
  }),
  privateHosts: z.array(z.string()).default([]).meta({
    title: "Private hosts that may be fetched",
    description:
      "Hosts (name or address, with :port if only that one) that may be fetched although they are loopback or private.",
  }),
  trustedUids: z.array(
    z.union([z.int().min(0).max(4_294_967_294), z.literal("*")]),
  ).max(1_000).default([]).meta({
    title: "Trusted users of this machine",
    description:
      "Users of this machine, beside the service's own, whose connections over loopback need no key and no secret where none is set: uids, or * for all. Linux alone tells users apart.",
  }),
  unaskedFetchesPerTurn: z.int().min(0).max(10_000).default(20).meta({
    title: "Unasked fetches of a turn",
    description:
      "URLs of tool results that one turn fetches without asking, 0 to 10000. Hosts that the person named don't count.",
  }),
  unaskedFetchesPerSite: z.int().min(0).max(10_000).default(5).meta({
    title: "Unasked fetches of a site",
    description:
      "Of them, URLs of one site: a host and its neighbours under the same domain. 0 to 10000.",
  }),
  messageTargets: z.array(
    z.string().refine(isTarget, TARGET_FORM),
  ).default([]).meta({
    title: "Chats it may write to unasked",
    description:
      "Chats that the agent may send messages to unasked: <channel>:<chat_id>, or <channel>:* for every chat of a channel, those of strangers too.",
  }),
}, { description: "What an action needs to be allowed.", takes: "restart", strict: true });

const executor = section({
  allowUnconfined: z.boolean().default(false).meta({
    title: "Run without a sandbox",
    description: "Run commands without a sandbox where none can be had.",
  }),
  maxOutputBytes: z.int().min(1_000).max(8_000_000).default(100_000).meta({
    title: "Longest output",
    description: "Bytes of a tool's output that the model is given; head and tail are kept.",
  }),
  maxMemoryMiB: z.int().min(64).max(1_048_576).default(2_048).meta({
    title: "Memory of a command",
    description:
      "MiB of memory that each process of a command may take; where control groups can be had, all of its processes together.",
  }),
  maxProcesses: z.int().min(8).max(100_000).default(256).meta({
    title: "Processes of a command",
    description: "Processes and threads that one command may have at once.",
  }),
  hosts: z.array(
    z.string().refine(isHostPattern, HOST_PATTERN_FORM),
  ).max(1_000).default([]).meta({
    title: "Hosts of commands",
    description:
      "Hosts that commands may reach unasked when they ask for them: <host>, <host>:<port> or *.<host>. Without a port: 80 and 443.",
  }),
}, { description: "How actions run.", takes: "restart", strict: true });

const audit = section({
  recordCommands: z.boolean().default(false).meta({
    title: "Record commands in clear",
    description: "Record commands in clear instead of as keyed digests.",
  }),
  mirror: z.string().default("").meta({
    title: "Mirror file",
    description:
      "File outside of the home that signed checkpoints are appended to as well, best on another disk or machine. Empty: none.",
  }),
  rotateBytes: z.int().min(65_536).max(17_179_869_184).default(67_108_864).meta({
    title: "Size of a file",
    description: "Bytes of the record after which the next file is begun.",
  }),
  keepFiles: z.int().min(0).max(1_000_000).default(0).meta({
    title: "Files to keep",
    description: "Full files that are kept, the oldest go first; 0: all.",
  }),
}, {
  description: "The record of every action.",
  takes: "restart",
  strict: true,
});

const storage = section({
  minFreeMiB: z.int().min(0).max(1_048_576).default(32).meta({
    title: "Free disk space",
    description: "MiB of free disk space below which new work is refused; 0: never.",
  }),
}, { description: "The disk that the service writes to.", takes: "restart" });

const limits = (what: string, minDays = 1) => ({
  maxAgeDays: z.int().min(0).max(36_500).refine(
    (days) => days === 0 || days >= minDays,
    minDays === 1 ? "a whole number of days" : `0, or ${minDays} or more`,
  ).default(0).meta({
    title: "Greatest age",
    description: `Days after which ${what} removed; 0: never.${
      minDays === 1 ? "" : ` At least ${minDays}: repeated messages are known for so long.`
    }`,
  }),
  maxMiB: z.int().min(0).max(1_073_741_824).default(0).meta({
    title: "Greatest size",
    description: "MiB that all of it may take before the oldest goes; 0: any.",
  }),
});

const retention = section({
  dailyAt: z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d)?$/, "a time such as 03:30, or nothing")
    .default("").meta({
      title: "Time of day",
      description:
        "Local time at which a running service removes what is over the limits, such as 03:30; empty: only `service prune` does.",
    }),
  sessions: section(limits("a session that was not used is", 8), {
    title: "Conversations",
    description:
      "Conversations. Pinned ones, those of automations, and what waits or is being read stay.",
  }),
  media: section(limits("a file that came with messages, and with none since, is"), {
    title: "Files of messages",
    description: "Files of messages; their conversations stay.",
  }),
  audit: section(limits("a record is, with all of its file"), {
    title: "Audit log",
    description: "Full files of the audit log. Verifying then begins at the first that is left.",
  }),
  logs: section(limits("a log file that was set aside is"), {
    title: "Log files",
    description: "Log files that were set aside, beside log.keepFiles.",
  }),
  backups: section({
    folder: z.string().default("").meta({
      title: "Folder of backups",
      description:
        "Folder of backups that `service backup` named after their time. Empty: none is removed. A relative path begins at the configuration's folder.",
    }),
    ...limits("a backup, or a copy from before a migration, is"),
  }, { title: "Backups", description: "Backups. The newest one always stays." }),
}, {
  description: "What is removed by age and size, the oldest first. By default nothing is.",
  takes: "live",
});

const log = section({
  level: z.enum(["debug", "info", "warning", "error"]).default("info").meta({
    title: "Level",
    description: "Least level that is written; the line of each request always is.",
  }),
  format: z.enum(["text", "json"]).default("text").meta({
    title: "Format",
    description: "Readable lines, or JSON lines.",
  }),
  file: z.string().default("").meta({
    title: "File",
    description:
      "File that a service which stays logs to. Empty: standard error, or logs/service.log of the home for one in the background. A relative path begins at the configuration's folder.",
  }),
  rotateMiB: z.int().min(1).max(1_048_576).default(10).meta({
    title: "Size of a file",
    description: "MiB after which a log file is set aside as <file>.1.",
  }),
  rotateDays: z.int().min(0).max(3_650).default(0).meta({
    title: "Age of a file",
    description: "Days after its first line that a log file is set aside; 0: whatever its age.",
  }),
  keepFiles: z.int().min(0).max(100_000).default(4).meta({
    title: "Files to keep",
    description: "Log files set aside that are kept; the oldest go first.",
  }),
  compress: z.boolean().default(false).meta({
    title: "Compress old files",
    description: "Compress log files that were set aside (gzip).",
  }),
}, { description: "The service's own log.", takes: "restart" });

const tools = section({
  webSearch: section({
    provider: z.enum(["none", "brave", "tavily", "searxng"]).default("none").meta({
      title: "Search provider",
      description: "Who searches the web for web_search; none: nobody.",
    }),
    apiKey: z.string().default("").meta({
      title: "API key",
      description: "Key of the provider, ${ENV_VAR} or ${secret:NAME}.",
      secret: true,
    }),
    baseUrl: z.url({ protocol: /^https?$/ }).optional().meta({
      title: "Address",
      description: "Where the provider is; needed for searxng.",
    }),
  }, { title: "Web search", description: "The tool web_search." }),
}, { description: "Settings of tools.", takes: "restart" });

// An unknown key could be a misspelt bound on what the server may do.
const mcpServer = z.looseObject({
  enabled: z.boolean().default(true).meta({ title: "In use", description: "Whether it is used." }),
  command: z.array(z.string()).min(1).optional().meta({
    title: "Command",
    description:
      "Program and arguments of a server over stdio; it runs in the sandbox of commands.",
  }),
  cwd: z.string().default(".").meta({
    title: "Folder",
    description: "Its folder, in the workspace.",
  }),
  env: z.record(z.string(), z.string()).default({}).meta({
    title: "Environment",
    description: "Its environment, on top of the sandbox's own.",
    secret: true,
  }),
  read: z.array(z.string()).default([]).meta({
    title: "Paths to read",
    description: "Absolute paths outside of the workspace that it sees.",
  }),
  write: z.array(z.string()).default([]).meta({
    title: "Paths to write",
    description: "Absolute paths outside of the workspace that it may write to.",
  }),
  hosts: z.array(z.string().refine(isHostPattern, HOST_PATTERN_FORM)).default([]).meta({
    title: "Hosts",
    description: "Hosts that it may reach: <host>, <host>:<port> or *.<host>.",
  }),
  url: z.url({ protocol: /^https?$/ }).optional().meta({
    title: "Address",
    description: "Address of a server over streamable HTTP.",
  }),
  headers: z.record(z.string(), z.string()).default({}).meta({
    title: "Request headers",
    description: "Further request headers for it.",
    secret: true,
  }),
  allow: z.array(z.string()).default([]).meta({
    title: "Tools that run unasked",
    description: "Names of its tools that run unasked in an attended turn; * for all.",
  }),
  timeoutS: z.number().min(1).max(3_600).default(60).meta({
    title: "Time limit of a call",
    description: "Seconds that one call may take.",
  }),
}).meta({ strict: true });

const mcp = section({
  servers: z.record(
    z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, "a server's name: a-z, 0-9 and -, at most 32"),
    mcpServer,
  ).default({}).meta({ title: "Servers", description: "MCP servers by name." }),
}, { description: "Tool servers over the Model Context Protocol.", takes: "restart" });

const transcription = section({
  enabled: z.boolean().default(false).meta({
    title: "Turn speech into text",
    description: "Turn what is said in audio into text, for channels and the WebSocket port.",
  }),
  baseUrl: z.url({ protocol: /^https?$/ }).default("https://api.openai.com/v1").meta({
    title: "Address",
    description:
      "Where POST /audio/transcriptions is, of OpenAI or of a server that speaks like it.",
  }),
  apiKey: z.string().default("").meta({
    title: "API key",
    description: "Key, ${ENV_VAR} or ${secret:NAME}; empty for a server that needs none.",
    secret: true,
  }),
  model: z.string().min(1).default("whisper-1").meta({
    title: "Model",
    description: "Model id that the server knows.",
  }),
  language: z.string().regex(/^([a-z]{2,3})?$/, "a language code such as en, or nothing")
    .default("").meta({
      title: "Language",
      description: "Language that is spoken, such as en; empty: the server finds out.",
    }),
  timeoutS: z.number().min(1).max(3_600).default(120).meta({
    title: "Time limit",
    description: "Seconds that one transcription may take.",
  }),
  maxBytes: z.int().min(1_000).max(104_857_600).default(26_214_400).meta({
    title: "Largest audio",
    description: "Bytes of one audio, up to 100 MiB.",
  }),
}, { description: "Speech to text.", takes: "restart" });

/** The whole configuration. */
export const configSchema = z.looseObject({
  $schema: z.string().optional().meta({
    title: "Schema",
    description: "Where the schema of this file is.",
  }),
  agent,
  providers: z.record(
    z.string().regex(/^[a-z][a-z0-9_-]*$/, "a provider's name: a-z, 0-9, _ and -"),
    provider,
  ).default({}).meta({
    title: "Providers",
    description: "Model providers by name.",
    takes: "restart",
  }),
  prices: z.record(z.string().min(1), price).default({}).meta({
    title: "Prices",
    description:
      "Prices of models by their names, such as openai/gpt-5, for `service usage`. Cost is shown where they are set.",
    takes: "live",
  }),
  api,
  channels,
  gates,
  executor,
  audit,
  tools,
  mcp,
  transcription,
  automations: section({
    enabled: z.boolean().default(true).meta({
      title: "Run automations",
      description: "Run what is due; false: keep automations, and run and change none.",
    }),
    maxRunning: z.int().min(1).max(64).default(4).meta({
      title: "Runs at once",
      description: "Runs at once, each of another automation; more wait.",
    }),
  }, { description: "Scheduled work.", takes: "restart" }),
  storage,
  retention,
  log,
});

/** A configuration with every default filled in. */
export type Config = z.infer<typeof configSchema>;

/** One MCP server of {@linkcode Config}. */
export type McpServerConfig = z.infer<typeof mcpServer>;

/** `channels.websocket` of {@linkcode Config}. */
export type WebsocketConfig = Config["channels"]["websocket"];

/** `channels.websocket.trustedProxyAuth` of {@linkcode Config}, where it is set. */
export type TrustedProxyConfig = z.infer<typeof trustedProxyAuth>;

/** `transcription` of {@linkcode Config}. */
export type TranscriptionConfig = Config["transcription"];

/** One provider of {@linkcode Config}. */
export type ProviderConfig = z.infer<typeof provider>;
