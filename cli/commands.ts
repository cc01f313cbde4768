/**
 * Every command, as a table that costs nothing to read: a command's module is loaded when it runs,
 * or when its help or the completions need its options. Dispatch, help, suggestions, completions and
 * `docs/cli.md` all come from here.
 *
 * @module
 */

import type { Command } from "./command.ts";

/** Sections of the overview, in order. */
export const GROUPS = ["Chat", "Set up", "Run", "Operate", "Reference"] as const;

/** A row of the table. */
export interface CommandEntry {
  name: string;
  /** Other names that run it; help and completions leave them out. */
  aliases?: readonly string[];
  group: typeof GROUPS[number];
  /** One line for the overview. */
  summary: string;
  load(): Promise<{ default: Command }>;
}

/** Every command, in the order of the overview. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "agent",
    group: "Chat",
    summary: "Ask once, or chat in the terminal",
    load: () => import("./commands/agent.ts"),
  },
  {
    name: "chat",
    group: "Chat",
    summary: "Chat with a running gateway, on this machine or a remote one",
    load: () => import("./commands/chat.ts"),
  },
  {
    name: "sessions",
    group: "Chat",
    summary: "List, show, rename, fork, export and delete conversations",
    load: () => import("./commands/sessions.ts"),
  },
  {
    name: "onboard",
    group: "Set up",
    summary: "Create a first configuration",
    load: () => import("./commands/onboard.ts"),
  },
  {
    name: "config",
    group: "Set up",
    summary: "Read, change and check the configuration",
    load: () => import("./commands/config.ts"),
  },
  {
    name: "models",
    group: "Set up",
    summary: "List models, choose one, and show why it is in use",
    load: () => import("./commands/models.ts"),
  },
  {
    name: "projects",
    group: "Set up",
    summary: "List, allow and forget folders that the agent may work in",
    load: () => import("./commands/projects.ts"),
  },
  {
    name: "plugins",
    group: "Set up",
    summary: "List, enable and disable channels",
    load: () => import("./commands/plugins.ts"),
  },
  {
    name: "secrets",
    group: "Set up",
    summary: "Store API keys and tokens encrypted",
    load: () => import("./commands/secrets.ts"),
  },
  {
    name: "mcp",
    group: "Set up",
    summary: "Add, list, test and remove MCP servers; serve this agent",
    load: () => import("./commands/mcp.ts"),
  },
  {
    name: "doctor",
    group: "Set up",
    summary: "Find problems and how to fix them",
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "gateway",
    group: "Run",
    summary: "Run the service in the foreground, with all that is enabled",
    load: () => import("./commands/gateway.ts"),
  },
  {
    name: "start",
    group: "Run",
    summary: "Start the service in the background",
    load: () => import("./commands/start.ts"),
  },
  {
    name: "stop",
    group: "Run",
    summary: "Stop the service once its turns have finished",
    load: () => import("./commands/stop.ts"),
  },
  {
    name: "restart",
    group: "Run",
    summary: "Restart the service",
    load: () => import("./commands/restart.ts"),
  },
  {
    name: "reload",
    group: "Run",
    summary: "Have the service read its configuration again",
    load: () => import("./commands/reload.ts"),
  },
  {
    name: "status",
    group: "Run",
    summary: "Show whether the service is running and healthy",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "logs",
    group: "Run",
    summary: "Show the log of the service",
    load: () => import("./commands/logs.ts"),
  },
  {
    name: "install",
    group: "Run",
    summary: "Run the service at login or boot",
    load: () => import("./commands/install.ts"),
  },
  {
    name: "uninstall",
    group: "Run",
    summary: "Undo service install; keep the home",
    load: () => import("./commands/uninstall.ts"),
  },
  {
    name: "serve",
    group: "Run",
    summary: "Run the HTTP API alone",
    load: () => import("./commands/serve.ts"),
  },
  {
    name: "channels",
    group: "Run",
    summary: "Show channel state, log in, send a test message",
    load: () => import("./commands/channels.ts"),
  },
  {
    name: "automations",
    group: "Run",
    summary: "Schedule messages to the agent",
    load: () => import("./commands/automations.ts"),
  },
  {
    name: "outbox",
    group: "Run",
    summary: "List, resend and drop undelivered messages",
    load: () => import("./commands/outbox.ts"),
  },
  {
    name: "approvals",
    group: "Operate",
    summary: "Approve or deny pending actions",
    load: () => import("./commands/approvals.ts"),
  },
  {
    name: "blocks",
    aliases: ["latches"],
    group: "Operate",
    summary: "List and clear blocked capabilities",
    load: () => import("./commands/blocks.ts"),
  },
  {
    name: "grants",
    group: "Operate",
    summary: "Allow single actions in advance",
    load: () => import("./commands/grants.ts"),
  },
  {
    name: "policy",
    group: "Operate",
    summary: "Show, explain and test the rules for actions",
    load: () => import("./commands/policy.ts"),
  },
  {
    name: "tokens",
    group: "Operate",
    summary: "Issue and revoke API tokens",
    load: () => import("./commands/tokens.ts"),
  },
  {
    name: "audit",
    group: "Operate",
    summary: "List, verify and export the audit log",
    load: () => import("./commands/audit.ts"),
  },
  {
    name: "permissions",
    group: "Operate",
    summary: "Show what each process of the service can access",
    load: () => import("./commands/permissions.ts"),
  },
  {
    name: "backup",
    group: "Operate",
    summary: "Back up the whole home to one file",
    load: () => import("./commands/backup.ts"),
  },
  {
    name: "restore",
    group: "Operate",
    summary: "Restore a home from a backup",
    load: () => import("./commands/restore.ts"),
  },
  {
    name: "usage",
    group: "Operate",
    summary: "Show tokens, turns and cost by day, model or channel",
    load: () => import("./commands/usage.ts"),
  },
  {
    name: "prune",
    group: "Operate",
    summary: "Remove old data, as retention in the configuration says",
    load: () => import("./commands/prune.ts"),
  },
  {
    name: "upgrade",
    group: "Operate",
    summary: "Upgrade this program, or return to the previous version",
    load: () => import("./commands/upgrade.ts"),
  },
  {
    name: "completions",
    aliases: ["completion"],
    group: "Reference",
    summary: "Print a completion script for bash, zsh or fish",
    load: () => import("./commands/completions.ts"),
  },
  {
    name: "version",
    group: "Reference",
    summary: "Print the version and the runtime",
    load: () => import("./commands/version.ts"),
  },
];
