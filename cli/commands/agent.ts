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
import { ask } from "../agent/ask.ts";
import { gatherMessage, type MessageSources } from "../agent/gather_message.ts";
import { processSignals, type Signals, withInterrupts } from "../agent/interrupts.ts";
import type { LineReader } from "../agent/line_reader.ts";
import { processSources } from "../agent/process_sources.ts";
import { DEFAULT_SESSION, parseSessionName, sessionKey } from "../agent/session_name.ts";
import type { Command, ExitCode, Globals, Invocation } from "../command.ts";
import type { Output } from "../output.ts";

/** What the command reaches outside of itself. */
export interface AgentDeps {
  sources(out: Output): MessageSources;
  signals: Signals;
  env: (name: string) => string | undefined;
  withService<T>(
    globals: Globals,
    use: (client: LocalClient, operator?: Pick<Operator, "attachTerminal">) => Promise<T>,
  ): Promise<T>;
}

/** The command line's options, checked. */
interface AgentOptions {
  message?: string;
  files: string[];
  session: string;
  model?: string;
  useStdin: boolean;
  stream: boolean;
  /** Approves everything that the turn asks for. */
  yes: boolean;
}

/** Runs the command. */
export async function runAgent(invocation: Invocation, deps: AgentDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const options = readOptions(invocation);
  // Before the service is opened: it may be a process further left in the same pipe.
  const input = await gatherMessage(options, deps.sources(out));
  if (input === undefined) return await startChat(globals, out, options);
  const onFirst = () => out.note({ text: "Cancelling; Ctrl-C again leaves at once", style: "dim" });
  return await withInterrupts(
    deps.signals,
    onFirst,
    (signal) =>
      deps.withService(globals, async (client, operator) => {
        const key = sessionKey(options.session);
        const approvals = openApprovals({ yes: options.yes, json: globals.json }, out, deps, {
          client,
          operator,
          sessionKey: () => key,
        });
        try {
          return await ask(client, out, {
            sessionKey: key,
            input,
            model: options.model,
            json: globals.json,
            stream: options.stream,
            verbose: globals.verbose,
            approvals: approvals.prompt(),
            signal,
          });
        } finally {
          approvals.close();
        }
      }),
  );
}

/** Where the actions of a command's turns are asked about. */
function openApprovals(
  { yes, json }: { yes: boolean; json: boolean },
  out: Output,
  { signals, sources, env }: AgentDeps,
  { client, operator, sessionKey }: Pick<ApproverSources, "client" | "operator" | "sessionKey">,
) {
  const atTerminal = !json && sources(out).stdinIsTerminal && out.isErrorTerminal;
  const { approver, detach } = openApprover({
    client,
    operator,
    isAttended: yes || atTerminal,
    sessionKey,
    env,
  });
  // Loaded when the first question comes, so that a command that is never asked does not wait for it.
  let own: LineReader | undefined;
  const ownReader = async () =>
    own ??= (await import("../agent/line_reader.ts")).terminalReader([]);
  return {
    prompt: () =>
      new ApprovalPrompt({
        approver,
        reader: yes ? undefined : ownReader,
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

function readOptions({ options }: Invocation): AgentOptions {
  return {
    message: options["message"] as string | undefined,
    files: options["file"] as string[] | undefined ?? [],
    session: parseSessionName(options["session"] as string | undefined ?? DEFAULT_SESSION),
    model: options["model"] as string | undefined,
    useStdin: options["no-stdin"] !== true,
    stream: options["no-stream"] !== true,
    yes: options["yes"] === true,
  };
}

async function startChat(
  globals: Globals,
  out: Output,
  options: AgentOptions,
): Promise<ExitCode> {
  if (globals.json) {
    throw new ServiceError("usage", "--json needs a message: add -m TEXT", { param: "message" });
  }
  if (!out.isErrorTerminal) {
    throw new ServiceError(
      "usage",
      "A chat needs a terminal on standard error, where its prompt goes; or give -m TEXT",
      { param: "message" },
    );
  }
  const { agentChat } = await import("../terminal/agent_chat.ts");
  return await agentChat(globals, options);
}

const agent: Command = {
  description:
    "Asks the agent and prints its answer. Without a message, on a terminal, it starts a chat. Input " +
    "from a pipe is added to the message. The answer goes to standard output, everything else to " +
    "standard error. Exit codes: 0 done, 1 failed, 2 usage, 3 configuration, 4 model provider, " +
    "5 an action was refused, 130 interrupted.",
  examples: [
    'service agent -m "What is in this folder?"',
    'cat log | service agent -m "What failed?"',
    'service agent --session work --file notes.md -m "Summarize this"',
    "service agent",
  ],
  options: [
    { name: "message", alias: "m", value: "TEXT", summary: "Message; - reads it from stdin" },
    { name: "session", alias: "s", value: "NAME", summary: "Session to continue (default)" },
    {
      name: "file",
      alias: "f",
      value: "PATH",
      repeatable: true,
      summary: "Attach a text file, an image, a PDF, or a .docx, .xlsx or .pptx",
    },
    { name: "model", value: "NAME", summary: "A preset, or <provider>/<model id>" },
    { name: "no-stream", summary: "Print the answer only when it is complete" },
    { name: "no-stdin", summary: "Don't read standard input" },
    { name: "yes", alias: "y", summary: "Approve every action of this turn" },
  ],
  run: (invocation) =>
    runAgent(invocation, {
      sources: processSources,
      signals: processSignals,
      env: (name) => Deno.env.get(name),
      withService: async (globals, use) =>
        (await import("../open_service.ts")).withService(globals, use),
    }),
};

export default agent;
