/**
 * A home with a model that does what the last message says, for chats at a terminal with and without a
 * running gateway.
 *
 * @module
 */

import { type RecordedRequest, startModelServer } from "../fakes/model_server.ts";
import type { Behaviour } from "../fakes/model_behaviour.ts";
import { makeHome, type Running } from "./home.ts";
import { openTerminal, type Terminal, type TerminalOptions } from "./terminal.ts";

export const MARKDOWN = `# Findings

Some **bold** words and \`code\` that are followed by so many others that the line has to be wrapped.

- first item
- second item

| Name | Value |
|---|--:|
| alpha | 1 |

\`\`\`ts
const answer = 42; // why
\`\`\`

The end.`;

/** Events before the first word of an answer. */
const HEAD_EVENTS = 1;

/** Words of an answer to "slow", and how many of them come before it is let go on. */
export const WORDS = 60;
export const HELD_AT = 14;

/** A home, its model, and a gateway or none. */
export interface TerminalWorld extends AsyncDisposable {
  server: ReturnType<typeof startModelServer>;
  home: Awaited<ReturnType<typeof makeHome>>;
  /** Undefined: each command is the service for its own time. */
  gateway: Running | undefined;
  /** What a terminal is given so that it may answer approvals. */
  approver: Record<string, string>;
  /** Answers that wait go on. */
  release(): void;
  open(args: string[], options?: TerminalOptions): Promise<Terminal>;
}

/** A chat is the same in both. */
export const MODES = ["without a gateway", "with a gateway"] as const;

/** Makes it; `more` is for the configuration. */
export async function makeTerminalWorld(
  mode: typeof MODES[number],
  more: Record<string, unknown> = {},
): Promise<TerminalWorld> {
  let held = Promise.withResolvers<void>();
  const server = startModelServer({ script: (request) => answer(request, () => held.promise) });
  const home = await makeHome({
    agent: { model: "local/fake", presets: { swift: { model: "local/swift" } } },
    providers: { local: { baseUrl: server.baseUrl } },
    channels: { websocket: { enabled: true } },
    ...more,
  });
  const gateway = mode === "with a gateway" ? await home.start(["gateway", "--json"]) : undefined;
  const approver: Record<string, string> = gateway === undefined ? {} : {
    SERVICE_APPROVER_TOKEN: (await home.run(["tokens", "issue", "--scopes", "approve"]))
      .stdout.trim(),
  };
  const terminals: Terminal[] = [];
  return {
    server,
    home,
    gateway,
    approver,
    release() {
      held.resolve();
      held = Promise.withResolvers();
    },
    async open(args, options) {
      const terminal = await openTerminal(home, args, options);
      terminals.push(terminal);
      return terminal;
    },
    async [Symbol.asyncDispose]() {
      held.resolve();
      for (const terminal of terminals) await terminal[Symbol.asyncDispose]();
      await gateway?.[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Waits as long as a question has to be there before a key answers it. */
export function readQuestion(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 700));
}

/** What the last message asks for. */
async function answer(
  { body }: RecordedRequest,
  held: () => Promise<void>,
): Promise<Behaviour> {
  const { role, content } = body.messages.at(-1);
  const said = typeof content === "string" ? content : JSON.stringify(content);
  if (role === "tool") return { text: `The tool said: ${said.slice(0, 20)}` };
  const call = /^call (\w+) (\{.*\})/.exec(said);
  if (call !== null) return { calls: [{ tool: call[1]!, args: JSON.parse(call[2]!) }] };
  if (said.includes("wait")) await held();
  if (said.includes("markdown")) return { text: MARKDOWN.match(/[^]{1,9}/g)!, delayMs: 15 };
  if (said.includes("cut off")) return { text: "Half of an answer", delayMs: 60, endAfter: 4 };
  if (said.includes("think")) {
    const reasoning = Array.from({ length: 20 }, (_, at) => `thought${at} `);
    return { reasoning, text: "Thought through", hold: { after: 12, until: held() } };
  }
  if (said.includes("slow")) {
    return {
      text: Array.from({ length: WORDS }, (_, at) => `word${at} `),
      hold: { after: HEAD_EVENTS + HELD_AT, until: held() },
    };
  }
  return { text: `Answer to ${said.slice(0, 60)}` };
}
