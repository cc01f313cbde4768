/**
 * Every command, as a table that costs nothing to read: a command's module is loaded when it runs,
 * or when its help or the completions need its options. Dispatch, help, suggestions and completions
 * all come from here.
 *
 * @module
 */

import type { Command } from "./command.ts";

/** A row of the table. */
export interface CommandEntry {
  name: string;
  /** One line for the overview. */
  summary: string;
  load(): Promise<{ default: Command }>;
}

/** Every command, in the order of the overview. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "agent",
    summary: "Ask once with -m, or chat in the terminal",
    load: () => import("./commands/agent.ts"),
  },
  {
    name: "chat",
    summary: "Talk to a running service over its WebSocket port, here or far away",
    load: () => import("./commands/chat.ts"),
  },
  {
    name: "serve",
    summary: "Serve the HTTP API alone",
    load: () => import("./commands/serve.ts"),
  },
  {
    name: "gateway",
    summary: "Run the service with everything that is enabled",
    load: () => import("./commands/gateway.ts"),
  },
  {
    name: "onboard",
    summary: "Write a first configuration",
    load: () => import("./commands/onboard.ts"),
  },
  {
    name: "config",
    summary: "Read, change and check the configuration",
    load: () => import("./commands/config.ts"),
  },
  {
    name: "doctor",
    summary: "Check that everything works, and say what to do where it does not",
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "models",
    summary: "List the models, and which one is used and why",
    load: () => import("./commands/models.ts"),
  },
  {
    name: "sessions",
    summary: "List, show, export and delete conversations",
    load: () => import("./commands/sessions.ts"),
  },
  {
    name: "projects",
    summary: "List, allow and forget folders that the agent may work in",
    load: () => import("./commands/projects.ts"),
  },
  {
    name: "plugins",
    summary: "List, show, enable and disable channels",
    load: () => import("./commands/plugins.ts"),
  },
  {
    name: "channels",
    summary: "Show how channels are, send a test message, log in",
    load: () => import("./commands/channels.ts"),
  },
  {
    name: "outbox",
    summary: "Show what is not delivered, and decide what becomes of it",
    load: () => import("./commands/outbox.ts"),
  },
  {
    name: "automations",
    summary: "Do work when it is due: create, run, watch and remove automations",
    load: () => import("./commands/automations.ts"),
  },
  {
    name: "policy",
    summary: "Show, explain and test what the agent may do",
    load: () => import("./commands/policy.ts"),
  },
  {
    name: "approvals",
    summary: "Show what waits for a person, and answer it",
    load: () => import("./commands/approvals.ts"),
  },
  {
    name: "latches",
    summary: "Show what a person has denied, and clear it",
    load: () => import("./commands/latches.ts"),
  },
  {
    name: "tokens",
    summary: "Make and take back tokens of approvers and operators",
    load: () => import("./commands/tokens.ts"),
  },
  {
    name: "grants",
    summary: "Allow single actions in advance, and take that back",
    load: () => import("./commands/grants.ts"),
  },
  {
    name: "secrets",
    summary: "Keep keys and tokens encrypted, for the configuration and tools",
    load: () => import("./commands/secrets.ts"),
  },
  {
    name: "mcp",
    summary: "Show and test tool servers of the agent, or serve it as one",
    load: () => import("./commands/mcp.ts"),
  },
  {
    name: "permissions",
    summary: "Show what the service may reach, and who asked for it",
    load: () => import("./commands/permissions.ts"),
  },
  {
    name: "audit",
    summary: "Show, verify and export the record of every action",
    load: () => import("./commands/audit.ts"),
  },
  {
    name: "completions",
    summary: "Print a completion script for bash, zsh or fish",
    load: () => import("./commands/completions.ts"),
  },
  {
    name: "version",
    summary: "Print the version and what it runs on",
    load: () => import("./commands/version.ts"),
  },
];
