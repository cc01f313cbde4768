/**
 * `service agent`: one question, or a chat.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Operator } from "../../lib/operations/operator.ts";
import { ApprovalPrompt } from "../agent/approval_prompt.ts";
import { type ApproverSources, openApprover } from "../agent/approver.ts";
import { ask, type AskOptions } from "../agent/ask.ts";
import { gatherMessage, type MessageSources } from "../agent/gather_message.ts";
import { processSignals, type Signals, withInterrupts } from "../agent/interrupts.ts";
import type { LineReader } from "../agent/line_reader.ts";
import { processSources } from "../agent/process_sources.ts";
import {
  lastSessionName,
  newSessionName,
  parseSessionName,
  sessionKey,
} from "../agent/session_name.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { addSessionGrant } from "../operator/approval_choices.ts";
import { TOKEN_VARIABLE } from "../operator/approver_token.ts";
import type { Output } from "../output.ts";
import { processService } from "../process_service.ts";

/** What the command reaches outside of itself. */
export interface AgentDeps {
  sources(out: Output): MessageSources;
  signals: Signals;
  env: (name: string) => string | undefined;
  /** The project that a new session works in; undefined: the workspace. */
  openFolder(
    globals: Globals,
    how: { dir?: string; asks: boolean; out: Output },
  ): Promise<string | undefined>;
  withService<T>(
    globals: Globals,
    use: (client: LocalClient, operator?: Pick<Operator, "attachTerminal">) => Promise<T>,
  ): Promise<T>;
}

/** The command line's options, checked. */
interface AgentOptions {
  message?: string;
  files: string[];
  /** Undefined: the newest one. */
  session: string | undefined;
  /** Where it works, as it was typed. */
  dir?: string;
  model?: string;
  useStdin: boolean;
  stream: boolean;
  json: AskOptions["json"];
  /** Approves everything that the turn asks for. */
  yes: boolean;
  /** Waits for an approver where nobody sits at the terminal. */
  wait: boolean;
}

/** Runs the command. */
export async function runAgent(invocation: Invocation, deps: AgentDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const options = readOptions(invocation);
  // Before the service is opened: it may be a process further left in the same pipe.
  const input = await gatherMessage(options, deps.sources(out));
  const asks = isAtTerminal(options, out, deps);
  if (input === undefined) requireTerminal(options, out);
  const folder = await deps.openFolder(globals, { dir: options.dir, asks, out });
  if (input === undefined) {
    const { agentChat } = await import("../terminal/agent_chat.ts");
    return await agentChat(globals, { ...options, folder });
  }
  const onFirst = () => out.note({ text: "Cancelling; Ctrl-C again leaves at once", style: "dim" });
  return await withInterrupts(
    deps.signals,
    onFirst,
    (signal) =>
      deps.withService(globals, async (client, operator) => {
        const session = options.session ?? await lastSessionName(client, folder);
        const key = sessionKey(session);
        const approvals = openApprovals(options, invocation, deps, {
          client,
          operator,
          sessionKey: () => key,
        });
        try {
          const code = await ask(client, out, {
            sessionKey: key,
            input,
            model: options.model,
            asks: approvals.isAttended || options.wait,
            folder,
            json: options.json,
            stream: options.stream,
            verbose: globals.verbose,
            approvals: approvals.prompt(),
            signal,
          });
          if (code === EXIT.done && options.json === false && out.isErrorTerminal) {
            // The newest of this folder is another one where -C named its own.
            const which = options.dir === undefined ? "-c" : `--session ${session}`;
            out.note({ text: `Continue with: service agent ${which} "…"`, style: "dim" });
          }
          return code;
        } finally {
          approvals.close();
        }
      }),
  );
}

/** Where the actions of a command's turns are asked about. */
function openApprovals(
  { yes, json }: Pick<AgentOptions, "yes" | "json">,
  { globals, out }: Pick<Invocation, "globals" | "out">,
  deps: AgentDeps,
  { client, operator, sessionKey }: Pick<ApproverSources, "client" | "operator" | "sessionKey">,
) {
  const { signals, env } = deps;
  const isAttended = yes || isAtTerminal({ json }, out, deps);
  const { approver, detach } = openApprover({ client, operator, isAttended, sessionKey, env });
  if (yes && approver === undefined) {
    throw new ServiceError(
      "invalid_token",
      `A service runs in this home, so -y needs a token that can approve: set ${TOKEN_VARIABLE}`,
      { param: "yes" },
    );
  }
  // Loaded when the first question comes, so that a command that is never asked does not wait for it.
  let own: LineReader | undefined;
  const ownReader = async () => own ??= (await import("../agent/line_reader.ts")).terminalReader();
  return {
    /** Somebody answers what the turn asks for, or has done so with `--yes`. */
    isAttended,
    prompt: () =>
      new ApprovalPrompt({
        approver,
        reader: yes ? undefined : ownReader,
        addGrant: (grant) => addSessionGrant(globals, out, { ...grant, subject: sessionKey() }),
        out,
        now: Date.now,
        interrupt: () => signals.interrupt(),
      }),
    close() {
      detach();
      own?.close();
    },
  };
}

/** Somebody sits here who can be asked. */
function isAtTerminal(
  { json }: Pick<AgentOptions, "json">,
  out: Output,
  { sources }: Pick<AgentDeps, "sources">,
): boolean {
  return json === false && sources(out).stdinIsTerminal && out.isErrorTerminal;
}

function readOptions({ options, args, globals }: Invocation): AgentOptions {
  const text = args.length === 0 ? undefined : args.join(" ");
  if (text !== undefined && options["message"] !== undefined) {
    throw new ServiceError("usage", "Give the message once: as TEXT or with -m", {
      param: "message",
    });
  }
  const session = options["session"] as string | undefined;
  const continues = options["continue"] === true;
  if (session !== undefined && continues) {
    throw new ServiceError("usage", "Give either --session or --continue, not both", {
      param: "continue",
    });
  }
  return {
    message: text ?? options["message"] as string | undefined,
    files: options["file"] as string[] | undefined ?? [],
    session: continues ? undefined : parseSessionName(session ?? newSessionName()),
    dir: options["dir"] as string | undefined,
    model: options["model"] as string | undefined,
    useStdin: options["no-stdin"] !== true,
    stream: options["no-stream"] !== true,
    json: options["json-stream"] === true ? "events" : globals.json && "value",
    yes: options["yes"] === true,
    wait: options["wait"] === true,
  };
}

/** A chat is held where somebody sees its prompt. */
function requireTerminal(options: AgentOptions, out: Output): void {
  if (options.json !== false) {
    throw new ServiceError("usage", 'JSON output needs a message: service agent --json "TEXT"', {
      param: "message",
    });
  }
  if (!out.isErrorTerminal) {
    throw new ServiceError(
      "usage",
      "A chat needs a terminal on standard error, where its prompt goes; or give -m TEXT",
      { param: "message" },
    );
  }
}

const agent: Command = {
  args: "[TEXT...]",
  description:
    "Asks the agent and prints its answer. Without a message, on a terminal, it starts a chat. Each " +
    "call starts a new conversation unless you pass --continue or --session. The agent works in the " +
    "current folder once you have allowed that, otherwise in the workspace. Input from a pipe is added " +
    "to the message. The answer goes to standard output, everything else to standard error. Without a " +
    "terminal, an action that needs an approval ends the turn with exit code 5 and prints the command " +
    "that would allow it. Exit codes: 0 done, 1 failed, 2 usage, 3 configuration, 4 model provider, " +
    "5 refused, 130 interrupted.",
  examples: [
    'service agent "What is in this folder?"',
    'service agent -c "And the largest file?"',
    'cat log | service agent -m "What failed?"',
    'service agent --session work --file notes.md "Summarize this"',
    'service agent --json "Is the build green?" | jq -r .answer',
    "service agent",
  ],
  options: [
    { name: "message", alias: "m", value: "TEXT", summary: "Message; - reads it from stdin" },
    { name: "continue", alias: "c", summary: "Continue the last conversation" },
    {
      name: "session",
      alias: "s",
      value: "NAME",
      summary: "Start or continue the conversation NAME",
    },
    {
      name: "file",
      alias: "f",
      value: "PATH",
      repeatable: true,
      summary: "Attach a text file, an image, a PDF, or a .docx, .xlsx or .pptx",
    },
    { name: "dir", alias: "C", value: "DIR", summary: "Work in DIR instead of the current folder" },
    { name: "model", value: "NAME", summary: "A preset, or <provider>/<model id>" },
    { name: "json-stream", summary: "Print each event as a JSON line, instead of one at the end" },
    { name: "no-stream", summary: "Print the answer only when it is complete" },
    { name: "no-stdin", summary: "Don't read standard input" },
    { name: "yes", alias: "y", summary: "Approve every action of this turn" },
    { name: "wait", summary: "Wait for an approver instead of ending the turn" },
  ],
  run: (invocation) =>
    runAgent(invocation, {
      sources: processSources,
      signals: processSignals,
      env: (name) => Deno.env.get(name),
      openFolder: async (globals, how) =>
        (await import("../agent/open_folder.ts")).openFolder(globals, how),
      withService: processService,
    }),
};

export default agent;
