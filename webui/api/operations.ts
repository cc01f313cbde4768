/**
 * Written by `deno task generate` from the table of operations.
 *
 * @module
 */

/** Method, path and scope of each. */
export const ROUTES = {
  "approvals.list": ["GET", "/api/webui/approvals", "approve"],
  "approvals.get": ["GET", "/api/webui/approvals/:id", "approve"],
  "approvals.approve": ["POST", "/api/webui/approvals/:id/approve", "approve"],
  "approvals.deny": ["POST", "/api/webui/approvals/:id/deny", "approve"],
  "latches.list": ["GET", "/api/webui/latches", "approve"],
  "latches.clear": ["DELETE", "/api/webui/latches/:session/:capability", "operate"],
  "settings.get": ["GET", "/api/webui/settings", "read"],
  "settings.change": ["PUT", "/api/webui/settings", "operate"],
  "settings.schema": ["GET", "/api/webui/settings/schema", "read"],
  "channels.list": ["GET", "/api/settings/channels", "read"],
  "channels.validate": ["POST", "/api/settings/channels/:name/validate", "operate"],
  "channels.set": ["PUT", "/api/settings/channels/:name", "operate"],
  "channels.enable": ["POST", "/api/settings/channels/:name/enable", "operate"],
  "channels.disable": ["POST", "/api/settings/channels/:name/disable", "operate"],
  "channels.connect.start": ["POST", "/api/settings/channels/:name/connect/start", "operate"],
  "channels.connect.poll": ["GET", "/api/settings/channels/:name/connect/poll", "operate"],
  "channels.connect.answer": ["POST", "/api/settings/channels/:name/connect/poll", "operate"],
  "channels.connect.cancel": ["POST", "/api/settings/channels/:name/connect/cancel", "operate"],
  "pairings.list": ["GET", "/api/webui/pairings", "operate"],
  "pairings.pair": ["POST", "/api/webui/pairings/:code", "operate"],
  "pairings.dismiss": ["DELETE", "/api/webui/pairings/:code", "operate"],
  "secrets.list": ["GET", "/api/webui/secrets", "secrets"],
  "secrets.get": ["GET", "/api/webui/secrets/:name", "secrets"],
  "secrets.set": ["PUT", "/api/webui/secrets/:name", "secrets"],
  "secrets.remove": ["DELETE", "/api/webui/secrets/:name", "secrets"],
  "permissions.list": ["GET", "/api/webui/permissions", "read"],
  "audit.list": ["GET", "/api/webui/audit", "operate"],
  "audit.verify": ["POST", "/api/webui/audit/verify", "operate"],
  "logs.read": ["GET", "/api/webui/logs", "operate"],
  "models.find": ["GET", "/api/webui/models/found", "operate"],
  "models.remote": ["POST", "/api/webui/models/remote", "operate"],
  "models.connect": ["POST", "/api/webui/models/connect", "operate"],
  "service.restart": ["POST", "/api/webui/restart", "operate"],
  "sessions.list": ["GET", "/api/webui/sessions", "read"],
  "sessions.search": ["GET", "/api/webui/search", "read"],
  "sessions.get": ["GET", "/api/webui/sessions/:key", "read"],
  "sessions.messages": ["GET", "/api/webui/sessions/:key/messages", "read"],
  "sessions.export": ["GET", "/api/webui/sessions/:key/export", "read"],
  "sessions.recording": ["GET", "/api/webui/sessions/:key/recording", "read"],
  "sessions.rename": ["PUT", "/api/webui/sessions/:key/title", "operate"],
  "sessions.fork": ["POST", "/api/webui/sessions/:key/fork", "operate"],
  "sessions.pin": ["PUT", "/api/webui/sessions/:key/pin", "operate"],
  "sessions.unpin": ["DELETE", "/api/webui/sessions/:key/pin", "operate"],
  "sessions.delete": ["DELETE", "/api/webui/sessions/:key", "operate"],
  "automations.list": ["GET", "/api/webui/automations", "read"],
  "automations.create": ["POST", "/api/webui/automations", "operate"],
  "automations.get": ["GET", "/api/webui/automations/:id", "read"],
  "automations.update": ["PUT", "/api/webui/automations/:id", "operate"],
  "automations.delete": ["DELETE", "/api/webui/automations/:id", "operate"],
  "automations.enable": ["POST", "/api/webui/automations/:id/enable", "operate"],
  "automations.disable": ["POST", "/api/webui/automations/:id/disable", "operate"],
  "automations.run": ["POST", "/api/webui/automations/:id/run", "operate"],
  "automations.history": ["GET", "/api/webui/automations/:id/history", "read"],
  "automations.commission": ["POST", "/api/webui/automations/:id/commission", "operate"],
  "automations.finding": ["GET", "/api/webui/automations/:id/finding", "operate"],
  "automations.grant": ["POST", "/api/webui/automations/:id/grant", "operate"],
  "outbox.list": ["GET", "/api/webui/outbox", "operate"],
  "outbox.send": ["POST", "/api/webui/outbox", "operate"],
  "outbox.get": ["GET", "/api/webui/outbox/:id", "operate"],
  "outbox.resend": ["POST", "/api/webui/outbox/:id/resend", "operate"],
  "outbox.drop": ["POST", "/api/webui/outbox/:id/drop", "operate"],
  "channels.verify": ["POST", "/api/settings/channels/:name/verify", "operate"],
  "missed.list": ["GET", "/api/settings/channels/:name/missed", "operate"],
  "missed.clear": ["DELETE", "/api/settings/channels/:name/missed", "operate"],
  "missed.answer": ["POST", "/api/settings/channels/:name/missed/:id/answer", "operate"],
  "models.list": ["GET", "/api/webui/models", "read"],
  "mcp.list": ["GET", "/api/webui/mcp/servers", "read"],
  "mcp.test": ["POST", "/api/webui/mcp/servers/:name/test", "operate"],
  "service.status": ["GET", "/api/webui/status", "read"],
  "usage.show": ["GET", "/api/webui/usage", "read"],
  "usage.sessions": ["GET", "/api/webui/usage/sessions", "read"],
  "retention.prune": ["POST", "/api/webui/retention/prune", "operate"],
  "settings.reload": ["POST", "/api/webui/settings/reload", "operate"],
} as const;

/** What each takes and gives; of one that streams, each item. */
export interface Operations {
  /** List pending approvals, oldest first. */
  "approvals.list": {
    input: Record<string, unknown>;
    output: {
      /** Oldest first. */
      approvals: Array<{
        id: string;
        /** Of the action; an answer repeats it. */
        digest: string;
        capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
        /** What the action is about, resolved; hidden characters as \u{…}. */
        target: string;
        session: string;
        /** Seconds since 1970. */
        created_at: number;
        /** Seconds since 1970. */
        expires_at: number;
      }>;
    };
  };
  /** Show a pending approval with all its details. */
  "approvals.get": {
    input: {
      id: string;
    };
    output: {
      id: string;
      /** Of the action; an answer repeats it. */
      digest: string;
      capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
      /** What the action is about, resolved; hidden characters as \u{…}. */
      target: string;
      session: string;
      /** Seconds since 1970. */
      created_at: number;
      /** Seconds since 1970. */
      expires_at: number;
      tool: string;
      /** Everything else that the action depends on, whole: facts first. */
      details: string;
      channel: string;
      /** Who opened the turn. */
      actor: string;
      /** Target of a grant for exactly this; absent where nothing can grant it. */
      grant?: string;
    };
  };
  /** Allow an action once. */
  "approvals.approve": {
    input: {
      id: string;
      /** The digest of the approval; another one is a 409, and it still waits. */
      digest: string;
    };
    output: {
      id: string;
      outcome: "approved" | "denied";
    };
  };
  /** Deny an action, and block its capability in the session. */
  "approvals.deny": {
    input: {
      id: string;
      /** Reason, which the agent is told. */
      reason?: string;
    };
    output: {
      id: string;
      outcome: "approved" | "denied";
    };
  };
  /** List blocked capabilities. */
  "latches.list": {
    input: Record<string, unknown>;
    output: {
      latches: Array<{
        session: string;
        capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
        /** Seconds since 1970. */
        since: number;
        /** Why it was denied. */
        reason: string;
      }>;
    };
  };
  /** Unblock a capability in a session. */
  "latches.clear": {
    input: {
      session: string;
      capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
    };
    output: {
      session: string;
      capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
      cleared: true;
    };
  };
  /** Every key of the configuration, without secrets. */
  "settings.get": {
    input: Record<string, unknown>;
    output: {
      file: string;
      settings: Array<{
        path: string;
        /** A secret as ********, a reference as it is written */
        value?: unknown;
        default?: unknown;
        description: string | null;
        takes: "live" | "restart";
        secret: boolean;
        is_set: boolean;
        source: "default" | "file" | "environment" | "secret";
        /** Whether settings.change takes it */
        editable: boolean;
      }>;
      /** Keys whose value in the file waits for a restart */
      waiting: Array<string>;
      /** Why the file would not load; the settings are then those that loaded last */
      problems: Array<string>;
    };
  };
  /** Change keys of the configuration. */
  "settings.change": {
    input: {
      changes: Array<{
        path: string;
        /** null takes the key out; a blank text for a secret keeps the one that is stored */
        value: unknown;
      }>;
    };
    output: {
      /** false: the file held all of it already */
      written: boolean;
      /** Keys that are in force */
      live: Array<string>;
      /** Keys that wait for a restart, and what it would change */
      restart_required: {
        keys: Array<string>;
        permissions: {
          added: Array<Added>;
          removed: Array<Added>;
        };
      } | null;
    };
  };
  /** Print the JSON Schema of the configuration. */
  "settings.schema": {
    input: Record<string, unknown>;
    output: {
      $schema: string;
      [name: string]: unknown;
    };
  };
  /** List channels and their state. */
  "channels.list": {
    input: {
      /** A language such as `de`; what a channel does not have in it is English. */
      locale?: string;
    };
    output: {
      channels: Array<Channel>;
    };
  };
  /** What the settings of a channel would lack or get wrong with these values. */
  "channels.validate": {
    input: ChannelsValidate;
    output: {
      findings: Array<Finding>;
    };
  };
  /** Set values of a channel. */
  "channels.set": {
    input: ChannelsValidate;
    output: {
      /** A channel; no secret is in it. */
      channel: Channel;
      /** Warnings about what was written. */
      findings: Array<Finding>;
    };
  };
  /** Enable a channel, or one instance of it. */
  "channels.enable": {
    input: {
      name: string;
      /** By default the channel, or its instance `default`. */
      instance_id?: string;
    };
    output: {
      /** A channel; no secret is in it. */
      channel: Channel;
      /** Warnings about what was written. */
      findings: Array<Finding>;
    };
  };
  /** Disable a channel, or one instance of it. */
  "channels.disable": {
    input: {
      name: string;
      /** By default the channel, or its instance `default`. */
      instance_id?: string;
    };
    output: {
      /** A channel; no secret is in it. */
      channel: Channel;
      /** Warnings about what was written. */
      findings: Array<Finding>;
    };
  };
  /** Begin to connect a channel interactively. */
  "channels.connect.start": {
    input: {
      name: string;
      [name: string]: unknown;
    };
    output: ChannelsConnectStart;
  };
  /** How far the connection is; one that succeeds is written. */
  "channels.connect.poll": {
    input: {
      name: string;
      [name: string]: unknown;
    };
    output: ChannelsConnectStart;
  };
  /** The same, with more to say to the connector. */
  "channels.connect.answer": {
    input: {
      name: string;
      [name: string]: unknown;
    };
    output: ChannelsConnectStart;
  };
  /** End the connection. */
  "channels.connect.cancel": {
    input: {
      name: string;
      [name: string]: unknown;
    };
    output: ChannelsConnectStart;
  };
  /** List strangers who were given a code, oldest first. */
  "pairings.list": {
    input: Record<string, unknown>;
    output: {
      pairings: Array<{
        code: string;
        channel: string;
        /** The channel, or one of its instances. */
        runtime_name: string;
        /** The platform's; it goes into allowFrom. */
        sender_id: string;
        /** As they call themselves; anybody can take any. */
        sender_name?: string;
        /** Seconds since 1970. */
        created_at: number;
        /** Seconds since 1970. */
        expires_at: number;
      }>;
    };
  };
  /** Let a stranger write, by their code: their id goes into allowFrom of the channel. */
  "pairings.pair": {
    input: {
      code: string;
    };
    output: PairingsPair;
  };
  /** Dismiss a stranger's code: it lets nobody in, and they get no other for its hour. */
  "pairings.dismiss": {
    input: {
      code: string;
    };
    output: PairingsPair;
  };
  /** List the names, hosts and commands of secrets. */
  "secrets.list": {
    input: Record<string, unknown>;
    output: {
      secrets: Array<Secret>;
      /** Why no value can be read, if so */
      damaged: string | null;
    };
  };
  /** Show the name and scope of a secret. */
  "secrets.get": {
    input: {
      name: string;
    };
    output: Secret;
  };
  /** Set a secret, or replace its value. */
  "secrets.set": {
    input: {
      name: string;
      /** 8 characters at least, 64 KiB at most; never shown again. */
      value: string;
      hosts?: Array<string>;
      commands?: Array<string>;
    };
    output: {
      name: string;
      hosts: Array<string>;
      commands: Array<string>;
      /** Seconds since 1970. */
      created_at: number;
      /** Seconds since 1970. */
      updated_at: number;
      /** Keys of the configuration that refer to it */
      keys: Array<string>;
      /** Those of them that take a new value after a restart */
      restart: Array<string>;
      /** Why the configuration would not load now */
      problems: Array<string>;
    };
  };
  /** Remove a secret. */
  "secrets.remove": {
    input: {
      name: string;
    };
    output: {
      name: string;
      removed: true;
      /** Keys of the configuration that refer to it */
      keys: Array<string>;
      /** Those of them that take a new value after a restart */
      restart: Array<string>;
      /** Why the configuration would not load now */
      problems: Array<string>;
    };
  };
  /** What the running service may touch, and who asked for it. */
  "permissions.list": {
    input: Record<string, unknown>;
    output: {
      permissions: Array<Added>;
    };
  };
  /** List the last records of the audit log. */
  "audit.list": {
    input: {
      /** Rows to list (default 50). */
      limit?: number;
      /** Only records before this one, such as the cursor. */
      before?: number;
      /** Only records since then. */
      since?: number;
      /** Only records until then. */
      until?: number;
      /** Only records of this session. */
      session?: string;
      /** Only this capability, such as fs.write. */
      capability?: string;
      /** Only this kind, such as approval or action.refused. */
      kind?: string;
      /** Only records of this tool. */
      tool?: string;
    };
    output: {
      /** Oldest first */
      records: Array<{
        seq: number;
        /** Seconds since 1970, to the millisecond */
        ts: number;
        kind: string;
        data: Record<string, unknown>;
        hash: string;
      }>;
      /** before of the page with earlier records; null: there are none */
      next_before: number | null;
      /** Lines that cannot be read; verify says what is wrong */
      damages: number;
    };
  };
  /** Check every record, link and signature of the audit log. */
  "audit.verify": {
    input: Record<string, unknown>;
    output: {
      ok: boolean;
      /** What is wrong; absent when nothing is */
      problem?: string;
      message?: string;
      file?: string;
      line?: number;
      records?: number;
      files?: number;
      first_seq?: number;
      /** When the records before first_seq were removed */
      pruned_at?: number;
      head_hash?: string;
      /** Last record that a signature covers */
      signed_seq?: number | null;
      signed_at?: number | null;
      /** At the end: being written, or cut off by a crash */
      torn_bytes?: number;
      /** Actions that began and whose end is not on record */
      unknown?: Array<{
        seq: number;
        ts: number;
        data: Record<string, unknown>;
        /** It cannot be running any more */
        crashed: boolean;
      }>;
      unknown_more?: number;
      mirror: string | null;
      keys: Array<{
        fingerprint: string;
        public_key: string;
      }>;
      /** Why these keys count */
      keys_from: string;
    };
  };
  /** Show the newest lines of the service's log, or those after a line. */
  "logs.read": {
    input: {
      /** Cursor: only lines after the one of this seq. Absent: the newest. */
      after?: number;
      /** Lines to show (default 200). */
      limit?: number;
    };
    output: {
      /** Oldest first. */
      lines: Array<{
        seq: number;
        /** The line as it is written. */
        text: string;
        /** Such as 2026-01-31T12:00:00.000Z. */
        time?: string;
        /** debug, info, warning or error; none of a request. */
        level?: string;
        /** Of a request, as path, status and duration_ms. */
        method?: string;
        path?: string;
        status?: number;
        duration_ms?: number;
        /** What else it says. */
        message: string;
      }>;
      /** Cursor of the lines to come; absent while there are none. */
      next?: number;
      /** Lines between the cursor and the first are gone. */
      missed: boolean;
    };
  };
  /** Look for model servers on this machine, and list the providers that can be set up. */
  "models.find": {
    input: Record<string, unknown>;
    output: {
      /** Model servers that answer at their usual ports. */
      servers: Array<{
        /** For people. */
        name: string;
        provider: string;
        base_url: string;
        models: Array<string>;
      }>;
      /** Providers with a key that are known by name. */
      providers: Array<{
        provider: string;
        /** For people. */
        name: string;
        /** Where a key is made. */
        key_page?: string;
        usual_model?: string;
      }>;
      /** Names that stand for another known address. */
      others: Array<string>;
    };
  };
  /** Ask a provider that is not set up yet for its models. */
  "models.remote": {
    input: {
      /** openai, anthropic, openrouter, ollama, or any name with base_url. */
      provider?: string;
      /** Address of an OpenAI-style server. */
      base_url?: string;
      /** Kept as a secret for that host; absent for a server that needs none. */
      api_key?: string;
    };
    output: {
      /** null: it doesn't say. */
      models: Array<string> | null;
    };
  };
  /** Test a model with one short call, keep its key as a secret and configure it. */
  "models.connect": {
    input: {
      /** openai, anthropic, openrouter, ollama, or any name with base_url. */
      provider?: string;
      /** Address of an OpenAI-style server. */
      base_url?: string;
      /** Kept as a secret for that host; absent for a server that needs none. */
      api_key?: string;
      /** ID of the model at the provider. */
      model: string;
      /** false: don't send a test message. */
      test?: boolean;
    };
    output: {
      /** <provider>/<model id>. */
      model_name: string;
      /** Name of the secret that holds the key. */
      secret?: string;
      /** What the test took. */
      ms?: number;
      /** Keys that wait for a restart: service.restart. */
      restart: Array<string>;
    };
  };
  /** Restart the service. */
  "service.restart": {
    input: Record<string, unknown>;
    output: {
      restarting: true;
    };
  };
  /** List sessions, latest first. */
  "sessions.list": {
    input: {
      /** Rows to list (default 50). */
      limit?: number;
      /** Cursor: only those before the page that gave it. */
      before?: number;
    };
    output: {
      /** Latest first. */
      sessions: Array<Session>;
      /** Cursor of the next page; absent on the last. */
      before?: number;
    };
  };
  /** Search the texts of sessions. */
  "sessions.search": {
    input: {
      /** Words that have to be in one message; "a phrase" in quotes. */
      q: string;
      /** Rows to list (default 50). */
      limit?: number;
      /** Cursor: only those before the page that gave it. */
      before?: number;
    };
    output: {
      /** Latest first. */
      sessions: Array<{
        /** <channel>:<id>; stands in the paths of its routes. */
        key: string;
        /** Of a chat of this port. */
        chat_id?: string;
        channel: string;
        title: string;
        /** null: the configured model answers. */
        model_preset: string | null;
        /** Project that it works in, told on the service's own machine; absent: the workspace. */
        folder?: string;
        /** Seconds since 1970. */
        created_at: number;
        /** Seconds since 1970. */
        updated_at: number;
        turns: number;
        /** Its newest event; 0 for none. */
        last_seq: number;
        /** A turn runs in it. */
        running: boolean;
        /** Retention keeps it. */
        pinned?: true;
        /** Messages in which all words are. */
        count: number;
        /** The three newest of them. */
        matches: Array<{
          /** The message's; 0 for the title. */
          id: number;
          turn_id: string;
          role: "user" | "assistant" | "title";
          /** A stretch of the text, in pieces. */
          snippet: Array<{
            text: string;
            /** It is what was looked for. */
            match: boolean;
          }>;
        }>;
      }>;
      /** Cursor of the next page; absent on the last. */
      before?: number;
    };
  };
  /** Show a session without its messages. */
  "sessions.get": {
    input: {
      key: string;
    };
    output: {
      /** <channel>:<id>; stands in the paths of its routes. */
      key: string;
      /** Of a chat of this port. */
      chat_id?: string;
      channel: string;
      title: string;
      /** null: the configured model answers. */
      model_preset: string | null;
      /** Project that it works in, told on the service's own machine; absent: the workspace. */
      folder?: string;
      /** Seconds since 1970. */
      created_at: number;
      /** Seconds since 1970. */
      updated_at: number;
      turns: number;
      /** Its newest event; 0 for none. */
      last_seq: number;
      /** A turn runs in it. */
      running: boolean;
      /** Retention keeps it. */
      pinned?: true;
      /** Estimate of what the model is sent of it. */
      context_tokens?: number;
      /** What fits before it is summarized. */
      max_context_tokens?: number;
    };
  };
  /** Show the messages of a session, the newest page first. */
  "sessions.messages": {
    input: {
      key: string;
      /** Rows to list (default 50). */
      limit?: number;
      /** Cursor: only those before the page that gave it. */
      before?: number;
    };
    output: {
      key: string;
      /** Oldest first. */
      messages: Array<{
        id: number;
        /** Empty for one from elsewhere. */
        turn_id: string;
        role: "user";
        /** Its place among the messages of people, from 0. */
        user_index: number;
        text: string;
        attachments: Array<Attachment>;
        /** Those of the attachments. */
        media_urls: Array<string>;
      } | {
        id: number;
        /** Empty for one from elsewhere. */
        turn_id: string;
        role: "assistant";
        text: string;
        /** With showReasoning alone. */
        reasoning?: string;
        tool_calls: Array<{
          call_id: string;
          tool: string;
          args: unknown;
        }>;
        /** Paths on the server's machine. */
        media?: Array<string>;
        /** Signed and expiring, on this port. */
        media_urls?: Array<string>;
      } | {
        id: number;
        /** Empty for one from elsewhere. */
        turn_id: string;
        role: "tool";
        results: Array<{
          call_id: string;
          tool: string;
          output: string;
          failed: boolean;
          /** How long the call took, the wait for a person included */
          took_ms?: number;
        }>;
      } | {
        id: number;
        /** Empty for one from elsewhere. */
        turn_id: string;
        role: "summary";
        text: string;
      }>;
      /** Those that the messages belong to, in their order. */
      turns: Array<{
        turn_id: string;
        status: "queued" | "running" | "done" | "failed" | "cancelled" | "timed_out" | "interrupted";
        /** Why it failed. */
        detail?: string;
        usage?: {
          input_tokens: number;
          output_tokens: number;
          reasoning_tokens: number;
          cached_tokens: number;
        };
        /** The same by model, the one that the turn was begun with first */
        models?: Array<{
          input_tokens: number;
          output_tokens: number;
          reasoning_tokens: number;
          cached_tokens: number;
          model: string;
        }>;
        /** Seconds since 1970. */
        accepted_at: number;
        /** From the turn's start to its end */
        took_ms?: number;
      }>;
      /** Messages of people before this page. */
      user_index: number;
      /** Cursor of the page before; absent on the first. */
      before?: number;
      /** How the chat goes on; of a chat's newest page alone. */
      live?: {
        epoch: string;
        /** Attach behind it: a turn that runs is told from its begin. */
        after_seq: number;
        /** Id of the turn that runs. */
        running?: string;
        /** Messages that wait for their turn, in order. */
        waiting: Array<{
          turn_id: string;
          text: string;
          attachments: Array<Attachment>;
        }>;
      };
    };
  };
  /** Export everything on record of a session, as JSON lines. */
  "sessions.export": {
    input: {
      key: string;
    };
    output: {
      kind: "session" | "turn" | "message" | "event";
      [name: string]: unknown;
    };
  };
  /** Get a turn as a recording, which can be replayed. */
  "sessions.recording": {
    input: {
      key: string;
      /** Number of the turn, from 1 (default: the last). */
      turn?: number;
    };
    output: {
      version: number;
      about: string;
      [name: string]: unknown;
    };
  };
  /** Rename a session. */
  "sessions.rename": {
    input: {
      key: string;
      title: string;
    };
    output: Session;
  };
  /** Start a session from the beginning of another one. */
  "sessions.fork": {
    input: {
      key: string;
      /** Messages of people that the fork keeps, with what was answered. */
      before_user_index: number;
      /** Of the new chat, which must not be there yet; absent: one is made up. */
      chat_id?: string;
    };
    output: Session;
  };
  /** Keep a session from retention, whatever its age. */
  "sessions.pin": {
    input: {
      key: string;
    };
    output: Session;
  };
  /** Let retention remove a session again. */
  "sessions.unpin": {
    input: {
      key: string;
    };
    output: Session;
  };
  /** Delete a session and everything in it; not while a turn is open in it. */
  "sessions.delete": {
    input: {
      key: string;
    };
    output: {
      key: string;
      deleted: true;
    };
  };
  /** List automations. */
  "automations.list": {
    input: {
      /** Rows to list (default 50). */
      limit?: number;
      /** Cursor: those after the page that gave it. */
      after?: string;
    };
    output: {
      /** In the order of ids. */
      automations: Array<Automation>;
      /** Cursor of the next page; absent on the last. */
      after?: string;
    };
  };
  /** Create an automation. */
  "automations.create": {
    input: Record<string, unknown>;
    output: Automation;
  };
  /** Show an automation with its state and warnings. */
  "automations.get": {
    input: {
      id: string;
    };
    output: Automation;
  };
  /** Change the given fields of an automation. */
  "automations.update": {
    input: {
      id: string;
      [name: string]: unknown;
    };
    output: Automation;
  };
  /** Delete an automation and stop its runs. */
  "automations.delete": {
    input: {
      id: string;
    };
    output: {
      id: string;
      deleted: true;
    };
  };
  /** Enable an automation. */
  "automations.enable": {
    input: {
      id: string;
    };
    output: Automation;
  };
  /** Disable an automation; a current run continues. */
  "automations.disable": {
    input: {
      id: string;
    };
    output: Automation;
  };
  /** Run an automation now, even if disabled. */
  "automations.run": {
    input: {
      id: string;
      /** Idempotency key: the same key again is the same run. */
      request_id?: string;
    };
    output: LastRun;
  };
  /** List the runs of an automation, latest first. */
  "automations.history": {
    input: {
      id: string;
      /** Rows to list (default 50). */
      limit?: number;
      /** Only runs before this one, such as the cursor of a page. */
      before?: number;
    };
    output: {
      /** Newest first. */
      runs: Array<LastRun>;
      /** Cursor of the next page; absent on the last. */
      before?: number;
    };
  };
  /** Dry run of an automation: a turn in which nothing runs; ends if you disconnect. */
  "automations.commission": {
    input: {
      id: string;
    };
    output: {
      /** What a dry run has shown. */
      finding: Finding2;
      /** What the model said last. */
      text: string;
      /** Why the turn failed. */
      error?: string;
      turn_id: string;
      usage: {
        input_tokens: number;
        output_tokens: number;
        total_tokens: number;
      };
    };
  };
  /** Show the report of an automation's last dry run. */
  "automations.finding": {
    input: {
      id: string;
    };
    output: {
      /** What a dry run has shown. */
      finding: Finding2;
      /** Whether the automation is as it was then. */
      current: boolean;
    };
  };
  /** Grant exactly what the last dry run needed, if the automation hasn't changed. */
  "automations.grant": {
    input: {
      id: string;
      /** Digest of the report that you read; on the command line, at least its first 8 digits. */
      digest: string;
    };
    output: {
      finding_id: string;
      digest: string;
      grants: Array<{
        capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
        target: string;
        id: string;
      }>;
    };
  };
  /** List undelivered messages. */
  "outbox.list": {
    input: {
      /** Only these states: pending, sending, sent, unknown, dead, expired, all (default: all but sent). */
      state?: Array<"pending" | "sending" | "sent" | "unknown" | "dead" | "expired" | "all">;
      /** Only this channel or instance. */
      channel?: string;
      /** Rows to list (default 50). */
      limit?: number;
      /** Only messages after this one, such as the cursor of a page. */
      after?: number;
    };
    output: {
      /** In the order of delivery. */
      messages: Array<Message>;
      /** Cursor of the next page; absent on the last. */
      after?: number;
    };
  };
  /** Send a message to a chat. */
  "outbox.send": {
    input: {
      channel: string;
      chat_id: string;
      text: string;
    };
    output: Message;
  };
  /** Show a message of the outbox. */
  "outbox.get": {
    input: {
      id: number;
    };
    output: Message;
  };
  /** Send a message again; it may arrive twice. */
  "outbox.resend": {
    input: {
      id: number;
    };
    output: Message;
  };
  /** Give up on a message. */
  "outbox.drop": {
    input: {
      id: number;
    };
    output: Message;
  };
  /** Verify the session of an encrypted channel with a client that asks for it. */
  "channels.verify": {
    input: {
      /** Runtime name. */
      name: string;
      /** show: go on, and say how it stands. The others say whether the emoji are the same. */
      action?: "show" | "confirm" | "cancel";
    };
    output: {
      /** Id of the session. */
      device_id: string;
      /** Its public key, as clients show it. */
      key: string;
      /** Whether the account itself vouches for the session. */
      is_verified: boolean;
      /** idle: no client has asked; compare: look whether the client shows the same emoji. */
      state: "idle" | "waiting" | "compare" | "done" | "failed";
      /** Whom it is verified with. */
      with?: string;
      emoji?: Array<{
        symbol: string;
        name: string;
      }>;
      /** Why it failed. */
      message?: string;
    };
  };
  /** List messages that arrived too late to be answered (channels.catchUpS). */
  "missed.list": {
    input: {
      /** Runtime name; absent: every channel. */
      name?: string;
      /** Rows to list (default 50). */
      limit?: number;
      /** Only messages that came after this one. */
      after?: number;
    };
    output: {
      /** Of all that are listed. */
      count: number;
      messages: Array<{
        id: number;
        /** Runtime name. */
        channel: string;
        chat_id: string;
        sender_id: string;
        sender_name?: string;
        /** Without secrets; of a long one the beginning. */
        text: string;
        truncated: boolean;
        /** Names of files, which are not kept. */
        files: Array<string>;
        /** Seconds since 1970. */
        sent_at: number;
        /** Seconds since 1970. */
        received_at: number;
      }>;
    };
  };
  /** Remove missed messages from the list. */
  "missed.clear": {
    input: {
      /** Runtime name; absent: every channel. */
      name?: string;
    };
    output: {
      /** How many there were. */
      cleared: number;
    };
  };
  /** Answer a missed message after all, as if it had just come. */
  "missed.answer": {
    input: {
      /** Runtime name; absent: every channel. */
      name?: string;
      id: number;
    };
    output: {
      /** late, denied: it isn't answered, as it would not be if it came now. */
      kind: "turn" | "command" | "late" | "denied";
      turn_id?: string;
    };
  };
  /** List configured models, the one in use, and why. */
  "models.list": {
    input: Record<string, unknown>;
    output: {
      /** The default model. */
      model_name: string;
      /** The preset in force, if one is. */
      model_preset: string | null;
      /** Why it is that one. */
      reason: string;
      /** What /model takes in a chat. */
      presets: Array<string>;
      /** The one in force first. */
      models: Array<{
        /** <provider>/<model id>, <provider>, or offline. */
        name: string;
        provider: string;
        preset: string | null;
        /** It answers unless a turn asks for another. */
        used: boolean;
        /** Why it is used, or why it is not. */
        reason: string;
        /** Of a million tokens, as configured. */
        price?: {
          input: number;
          cached_input: number;
          output: number;
        };
      }>;
    };
  };
  /** List MCP servers, their state and what they offer. */
  "mcp.list": {
    input: Record<string, unknown>;
    output: {
      servers: Array<{
        server: string;
        transport: "stdio" | "http";
        /** idle: not needed yet; failed: waits before the next try. */
        state: "idle" | "connecting" | "connected" | "failed" | "disabled";
        /** Why it failed, or what it says it is. */
        detail: string;
        tools: Array<Tool>;
        resources: Array<{
          uri: string;
          name: string;
        }>;
        prompts: Array<{
          name: string;
          description: string;
        }>;
        restarts: number;
      }>;
    };
  };
  /** Connect to an MCP server and report errors. */
  "mcp.test": {
    input: {
      name: string;
    };
    output: {
      server: string;
      transport: "stdio" | "http";
      /** idle: not needed yet; failed: waits before the next try. */
      state: "idle" | "connecting" | "connected" | "failed" | "disabled";
      /** Why it failed, or what it says it is. */
      detail: string;
      tools: Array<Tool>;
      resources: Array<{
        uri: string;
        name: string;
      }>;
      prompts: Array<{
        name: string;
        description: string;
      }>;
      restarts: number;
      /** What to do; absent when it is connected. */
      advice?: string;
    };
  };
  /** Show the version, the model, and what is in motion. */
  "service.status": {
    input: Record<string, unknown>;
    output: {
      version: string;
      uptime_s: number;
      model_name: string;
      model_reason: string;
      /** Sockets that are open. */
      connections: number;
      /** Chats that they follow. */
      chats: number;
      turns: {
        running: number;
        queued: number;
      };
      /** Messages that wait to be delivered. */
      outbox: number;
      pid: number;
      /** Absolute path of the configuration that it started with. */
      config_file: string;
      /** Absent where the HTTP API is off. */
      api_url?: string;
      ws_url?: string;
      /** Commands that are connected. */
      guests: number;
      /** Come back to nothing when nobody asks for anything. */
      counts: {
        pending_writes: number;
        waiting_followers: number;
        open_turns: number;
        open_streams: number;
      };
      /** Health, as it was when it was last looked at. */
      checks: Record<string, {
          ok: boolean;
          detail: string;
        }>;
    };
  };
  /** Show tokens, turns and cost by day, model or channel. */
  "usage.show": {
    input: {
      /** First day, UTC (default: 29 days before the last). */
      from?: string;
      /** Last day, UTC (default: today). */
      to?: string;
      /** What each row is about: day, model or channel (default day). */
      by?: "day" | "model" | "channel";
    };
    output: {
      from: string;
      to: string;
      by: "day" | "model" | "channel";
      /** Days in their order; models and channels by tokens. */
      rows: Array<{
        /** The day, model or channel. */
        name: string;
        /** Turns that were begun with the model. */
        turns: number;
        input_tokens: number;
        /** Part of input_tokens that a provider's cache had. */
        cached_tokens: number;
        output_tokens: number;
        /** Part of output_tokens. */
        reasoning_tokens: number;
        /** By the configured prices; absent where a model that was used has none. */
        cost?: number;
      }>;
      total: {
        /** Turns that were begun with the model. */
        turns: number;
        input_tokens: number;
        /** Part of input_tokens that a provider's cache had. */
        cached_tokens: number;
        output_tokens: number;
        /** Part of output_tokens. */
        reasoning_tokens: number;
        /** By the configured prices; absent where a model that was used has none. */
        cost?: number;
      };
      /** Models that were used and have no price. */
      unpriced: Array<string>;
    };
  };
  /** Show tokens and cost of sessions. */
  "usage.sessions": {
    input: {
      /** Of each session. */
      key: Array<string>;
    };
    output: {
      sessions: Array<{
        key: string;
        input_tokens: number;
        /** Part of input_tokens that a provider's cache had. */
        cached_tokens: number;
        output_tokens: number;
        /** Part of output_tokens. */
        reasoning_tokens: number;
        /** By the configured prices; absent where a model that was used has none. */
        cost?: number;
      }>;
    };
  };
  /** Remove old data, as retention in the configuration says. */
  "retention.prune": {
    input: {
      /** Only show what would be removed */
      dry_run?: boolean;
    };
    output: {
      dry_run: boolean;
      /** Of each kind that has a limit */
      removed: Array<{
        kind: "sessions" | "media" | "audit" | "logs" | "backups";
        count: number;
        /** About, for sessions */
        bytes: number;
        /** Of the first 100 */
        names: Array<string>;
        /** Why no more was removed */
        error?: string;
      }>;
    };
  };
  /** Have the service read its configuration again. */
  "settings.reload": {
    input: Record<string, unknown>;
    output: {
      /** Changed keys that are in force now */
      live: Array<string>;
      /** Changed keys that wait for a restart */
      waiting: Array<string>;
      /** Why the file cannot be used; the configuration is then as it was */
      problem?: string;
    };
  };
}

/** What the app begins with. */
export type Bootstrap = {
  /** Opens one WebSocket. Absent behind a trusted proxy. */
  token?: string;
  /** For the routes of this port, until it expires. */
  api_token?: string;
  /** Seconds that they hold. */
  expires_in?: number;
  /** What the caller's tokens allow. Absent behind a trusted proxy, which is unscoped. */
  scopes?: Array<"operate" | "read" | "chat" | "approve" | "secrets">;
  /** Only these may answer approvals, and the caller isn't one: gates.approvers. Else absent. */
  approvers?: Array<string>;
  /** The trusted proxy's, where it has one. */
  sign_out_path?: string;
  /** Before a chat_id it is the key of the chat's session. */
  session_prefix: string;
  ws_path: string;
  ws_url: string;
  model_name: string;
  /** Whether `transcribe_audio` is answered. */
  transcribes: boolean;
  limits: {
    max_frame_bytes: number;
    max_text_bytes: number;
    attachments: {
      max_count: number;
      max_file_bytes: number;
      max_total_bytes: number;
    };
  };
};

interface Added {
  kind: "net" | "read" | "write" | "env";
  value: string;
  /** The part of the configuration that needs it */
  asked_by: string;
}

/** A channel; no secret is in it. */
interface Channel {
  name: string;
  display_name: string;
  enabled: boolean;
  /** Nothing is missing in what is switched on. */
  configured: boolean;
  /** What has to be set, such as `token, or tokenFile`. */
  missing: Array<string>;
  /** Why it cannot be used. */
  problem?: string;
  fields: Record<string, {
      kind: "string" | "secret" | "int" | "bool" | "list" | "enum";
      /** What a text has to be. */
      format?: "url" | "host" | "phone" | "token";
      /** What a text, or each of a list, has to look like. */
      form?: {
        /** An expression as that of `pattern` in HTML. */
        pattern: string;
        /** What is right, for people. */
        expected: string;
      };
      default?: unknown;
      min?: number;
      max?: number;
      choices?: Array<string>;
      label?: string;
    }>;
  /** What it is and what it takes, in a line. */
  summary?: string;
  /** How it is set up, in their order; may be empty. */
  steps: Array<string>;
  /** The language of labels, display_name, summary and steps. */
  locale: string;
  /** Languages that there are. */
  locales: Array<string>;
  /** Why the one that was asked for is not used. */
  locale_problem?: string;
  capabilities: Array<string>;
  /** Whether it can be connected interactively. */
  connects: boolean;
  multi_instance: boolean;
  /** By field. References as they are written, secrets not at all. */
  config_values: Record<string, unknown>;
  /** Fields that have a value of their own, secrets included. */
  configured_fields: Array<string>;
  /** `default` is that of a channel that has one. */
  instances: Array<{
    id: string;
    runtime_name: string;
    enabled: boolean;
    configured: boolean;
    missing: Array<string>;
    problem?: string;
    /** By field. References as they are written, secrets not at all. */
    config_values: Record<string, unknown>;
    configured_fields: Array<string>;
    /** Whether a login is kept on this machine. */
    local_state_present?: boolean;
    name?: string;
    display_name?: string;
    avatar_url?: string;
    status?: Status;
  }>;
  /** Of the instance that is called like the channel. */
  status?: Status;
}

interface Status {
  /** failed: it cannot start as it is configured; waiting: it is to be started again. */
  state: "off" | "starting" | "running" | "waiting" | "failed" | "stopping";
  /** What it says of itself. */
  detail?: string;
  /** What went wrong last, and what to do. */
  problem?: string;
  /** Seconds since 1970 at which it came into this state. */
  since: number;
  /** How often it was started again since it was enabled. */
  restarts: number;
  deliveries: {
    waiting: number;
    /** Of those, the ones that have failed and are tried again. */
    retrying: number;
    /** Since the start of the service. */
    sent: number;
    /** May have been sent; somebody decides: service outbox. */
    unknown: number;
    dead: number;
  };
  /** Messages that came too late to be answered, and are listed. */
  missed: number;
}

/** All of it, or nothing. */
interface ChannelsValidate {
  name: string;
  /** By default the channel, or its instance `default`. */
  instance_id?: string;
  /** A blank secret keeps the stored one, null takes a value out. Lists may be texts with commas. */
  values: Record<string, unknown>;
}

interface Finding {
  level: "error" | "warning";
  field?: string;
  message: string;
}

/** What it brought is written, and never shown. */
interface ChannelsConnectStart {
  state: "waiting" | "connected" | "failed" | "cancelled";
  /** For people: what to do next, or what went wrong. */
  message: string;
  show?: {
    code?: string;
    /** The text of a QR code. */
    qr?: string;
    url?: string;
  };
  /** What to type, as the label of a field; it goes to `poll` as `answer`. */
  asks?: string;
}

/** Who may write now. */
interface PairingsPair {
  channel: string;
  /** The channel, or one of its instances. */
  runtime_name: string;
  /** The platform's; it goes into allowFrom. */
  sender_id: string;
  /** As they call themselves; anybody can take any. */
  sender_name?: string;
}

interface Secret {
  name: string;
  hosts: Array<string>;
  commands: Array<string>;
  /** Seconds since 1970. */
  created_at: number;
  /** Seconds since 1970. */
  updated_at: number;
}

/** A session. */
interface Session {
  /** <channel>:<id>; stands in the paths of its routes. */
  key: string;
  /** Of a chat of this port. */
  chat_id?: string;
  channel: string;
  title: string;
  /** null: the configured model answers. */
  model_preset: string | null;
  /** Project that it works in, told on the service's own machine; absent: the workspace. */
  folder?: string;
  /** Seconds since 1970. */
  created_at: number;
  /** Seconds since 1970. */
  updated_at: number;
  turns: number;
  /** Its newest event; 0 for none. */
  last_seq: number;
  /** A turn runs in it. */
  running: boolean;
  /** Retention keeps it. */
  pinned?: true;
}

interface Attachment {
  type: "image" | "document";
  name?: string;
  media_type: string;
  bytes: number;
  /** Signed and expiring, on this port. */
  url?: string;
}

/** An automation. */
interface Automation {
  id: string;
  /** As it was written, with its defaults. */
  automation: {
    /** For people */
    name: string;
    /** What the agent is told at each run */
    message: string;
    schedule: {
      /** An instant (ISO 8601 with Z or an offset); it runs once */
      at?: string;
      /** Period in seconds, counted from the automation's creation */
      every?: number;
      /** Five fields: minute hour day month weekday, in local time */
      cron?: string;
      /** Zone of the IANA database for cron */
      timeZone?: string;
    };
    /** Slots that passed while nothing ran: none, the newest, or the newest 100 */
    missed: "skip" | "once" | "all";
    /** Tokens that a run may use */
    tokenBudget: number;
    /** Model calls that a run may make */
    maxSteps: number;
    /** Without it, answers stay in the history */
    delivery?: {
      /** Each answer, one that differs from the last, or failures alone */
      when: "always" | "change" | "error";
      channel: string;
      chatId: string;
    };
    /** Further attempts after a run that failed */
    retries: number;
    /** A slot that comes while an earlier run goes on */
    overlap: "skip" | "queue";
    enabled: boolean;
  };
  /** Changes with everything that decides what runs. */
  digest: string;
  revision: number;
  /** Seconds since 1970. */
  created_at: number;
  /** Absent when none comes, or while it is off. */
  next_at?: number;
  missed: number;
  overlapped: number;
  /** A run. */
  last_run?: LastRun;
  warnings: Array<string>;
}

/** A run. */
interface LastRun {
  id: number;
  automation_id: string;
  /** Absent for a run that somebody asked for. */
  slot_at?: number;
  /** Seconds since 1970. */
  claimed_at: number;
  state: "waiting" | "running" | "done" | "failed" | "expired" | "dropped";
  attempts: number;
  /** When one that waits may begin. */
  not_before?: number;
  turn_id?: string;
  /** Seconds since 1970. */
  ended_at?: number;
  /** Why the newest attempt failed. */
  error?: string;
  /** What it came to; the beginning of a long one. */
  answer?: string;
}

/** What a dry run has shown. */
interface Finding2 {
  id: string;
  automation_id: string;
  /** Of the automation as it was then. */
  automation_digest: string;
  /** Of the automation and the grants; whoever grants repeats it. */
  digest: string;
  outcome: "done" | "failed";
  /** Who asked for it. */
  by: string;
  /** Seconds since 1970. */
  started_at: number;
  /** Seconds since 1970. */
  finished_at: number;
  /** In the order in which they came. */
  actions: Array<{
    tool: string;
    capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
    /** As a grant names it. */
    target: string;
    /** What a run would be told: allowed, allowed if it were granted, or denied for good. */
    effect: "allow" | "grant" | "deny";
    rule: string;
    reason: string;
    /** How often it was wanted. */
    count: number;
  }>;
  /** Further actions, which were not kept: the grants are not all then. */
  left: number;
  /** What granting would write. */
  grants: Array<{
    capability: "fs.read" | "fs.write" | "exec" | "net.fetch" | "message.send" | "mcp.call" | "automation.write" | "secret.use";
    target: string;
  }>;
}

/** A message for a chat. */
interface Message {
  /** Place in the order of delivery. */
  id: number;
  /** Runtime name: the channel, or one of its instances. */
  channel: string;
  chat_id: string;
  text: string;
  /** Names of the files that go with it. */
  files: Array<string>;
  state: "pending" | "sending" | "sent" | "unknown" | "dead" | "expired";
  /** Part of a streamed answer, of which some may have arrived. */
  partial: boolean;
  attempts: number;
  /** Why the last attempt failed. */
  error?: string;
  /** Turn that sent it. */
  turn_id?: string;
  /** Seconds since 1970. */
  created_at: number;
  /** Seconds since 1970. */
  expires_at: number;
  /** Seconds since 1970. */
  next_attempt_at?: number;
}

interface Tool {
  name: string;
  description: string;
  allowed: boolean;
}
