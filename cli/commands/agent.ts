/**
 * `service agent`: one question, or a chat.
 *
 * @module
 */

import { ServiceError } from "../../lib/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { ask } from "../agent/ask.ts";
import { attachFile } from "../agent/attach_file.ts";
import { gatherMessage, type MessageSources } from "../agent/gather_message.ts";
import { processSignals, type Signals, withInterrupts } from "../agent/interrupts.ts";
import { readPiped } from "../agent/read_piped.ts";
import { DEFAULT_SESSION, parseSessionName, sessionKey } from "../agent/session_name.ts";
import type { Command, ExitCode, Globals, Invocation } from "../command.ts";
import type { Output } from "../output.ts";

/** What the command reaches outside of itself. */
export interface AgentDeps {
  sources(out: Output): MessageSources;
  signals: Signals;
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

/** The command line's options, checked. */
interface AgentOptions {
  message?: string;
  files: string[];
  session: string;
  model?: string;
  useStdin: boolean;
  stream: boolean;
}

/** Runs the command. */
export async function runAgent(invocation: Invocation, deps: AgentDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const options = readOptions(invocation);
  if (invocation.options["yes"] === true) {
    out.note("--yes has nothing to approve yet: an action that would ask is refused");
  }
  // Before the service is opened: it may be a process further left in the same pipe.
  const input = await gatherMessage(options, deps.sources(out));
  if (input === undefined) return await startChat(globals, out, options, deps);
  const onFirst = () => out.note({ text: "Cancelling; Ctrl-C again leaves at once", style: "dim" });
  return await withInterrupts(
    deps.signals,
    onFirst,
    (signal) =>
      deps.withService(globals, (client) =>
        ask(client, out, {
          sessionKey: sessionKey(options.session),
          input,
          model: options.model,
          json: globals.json,
          stream: options.stream,
          verbose: globals.verbose,
          signal,
        })),
  );
}

function readOptions({ options }: Invocation): AgentOptions {
  return {
    message: options["message"] as string | undefined,
    files: options["file"] as string[] | undefined ?? [],
    session: parseSessionName(options["session"] as string | undefined ?? DEFAULT_SESSION),
    model: options["model"] as string | undefined,
    useStdin: options["no-stdin"] !== true,
    stream: options["no-stream"] !== true,
  };
}

async function startChat(
  globals: Globals,
  out: Output,
  options: AgentOptions,
  { signals, withService }: AgentDeps,
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
  const { chat } = await import("../agent/chat.ts");
  const { terminalReader } = await import("../agent/line_reader.ts");
  const { PromptHistory } = await import("../agent/prompt_history.ts");
  const { homePaths } = await import("../home_paths.ts");
  return await withService(globals, async (client) => {
    const history = await PromptHistory.load(`${homePaths(globals).home}/history`);
    const reader = terminalReader(history.entries);
    try {
      return await chat(
        { client, out, reader, signals, remember: (entry) => history.add(entry) },
        { ...options, verbose: globals.verbose },
      );
    } finally {
      reader.close();
    }
  });
}

/** The sources of this process. */
function processSources(out: Output): MessageSources {
  return {
    stdinIsTerminal: Deno.stdin.isTerminal(),
    readStdin: () =>
      readPiped({
        stdin: Deno.stdin.readable,
        onWait: () => out.note("Waiting for standard input to end; --no-stdin leaves it out"),
      }),
    attach: (path) => attachFile(path),
  };
}

const agent: Command = {
  description:
    "Asks the agent and prints its answer; without -m and on a terminal it is a chat. Standard " +
    "input that is not a terminal is added to the message. The answer goes to standard output, " +
    "everything else to standard error. Exit codes: 0 done, 1 failed, 2 usage, 3 configuration, " +
    "4 model provider, 5 the turn ended on an action that was refused, 130 interrupted.",
  examples: [
    'service agent -m "What is in this folder?"',
    'cat log | service agent -m "What failed?"',
    'service agent --session work --file notes.md -m "Sum this up"',
    "service agent",
  ],
  options: [
    { name: "message", alias: "m", value: "TEXT", summary: "Ask this; - reads it from stdin" },
    { name: "session", alias: "s", value: "NAME", summary: "Session to go on in (default)" },
    {
      name: "file",
      alias: "f",
      value: "PATH",
      repeatable: true,
      summary: "Attach a text file, an image, a PDF, or a .docx, .xlsx or .pptx",
    },
    { name: "model", value: "NAME", summary: "A preset, or <provider>/<model id>" },
    { name: "no-stream", summary: "Print the answer only when it is whole" },
    { name: "no-stdin", summary: "Do not read standard input" },
    { name: "yes", alias: "y", summary: "Approve what the turn asks for (nothing asks yet)" },
  ],
  run: (invocation) =>
    runAgent(invocation, {
      sources: processSources,
      signals: processSignals,
      withService: async (globals, use) =>
        (await import("../open_service.ts")).withService(globals, use),
    }),
};

export default agent;
