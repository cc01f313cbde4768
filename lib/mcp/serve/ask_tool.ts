/**
 * The tool `ask`: one turn of the agent.
 *
 * @module
 */

import { z } from "zod";
import { agentTool } from "./agent_tool.ts";
import { AskProgress } from "./ask_progress.ts";
import { TurnAnswer } from "./turn_answer.ts";

/** What a session may be called. */
const SESSION_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const SESSION_ID_RULE = "1 to 128 characters of A-Z a-z 0-9 . _ : -";

const MAX_MESSAGE_CHARS = 1_000_000;

const args = z.strictObject({
  message: z.string("text").max(MAX_MESSAGE_CHARS, "text of at most 1,000,000 characters")
    .refine((text) => text.trim() !== "", "text that is not blank")
    .describe("What the agent is asked or told."),
  session_id: z.string(SESSION_ID_RULE).regex(SESSION_ID, SESSION_ID_RULE).optional()
    .describe(
      "Goes on with this conversation, or begins it. Absent: a new one; its id is answered.",
    ),
});

const result = z.object({
  answer: z.string(),
  session_id: z.string(),
  finish_reason: z.enum(["stop", "length"]),
});

/** One turn in a session; turns of a session follow each other. */
export const askTool = agentTool({
  name: "ask",
  title: "Ask the agent",
  description:
    "Asks the agent and waits for its answer. It keeps the conversation of a session_id, has tools of " +
    "its own, and may wait for a person who approves what it does.",
  args,
  result,
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  async run({ message, session_id }, { access, signal, progress, clock }) {
    const sessionId = session_id ?? crypto.randomUUID();
    const answer = new TurnAnswer();
    const telling = progress && new AskProgress({ send: progress, clock });
    try {
      const events = access.turn({
        sessionKey: `${access.channel}:${sessionId}`,
        input: [{ type: "text", text: message }],
      }, signal);
      for await (const { event } of events) {
        answer.add(event);
        await telling?.see(event);
      }
    } finally {
      telling?.close();
    }
    signal.throwIfAborted();
    const { answer: text, finishReason } = answer.result();
    const content = [{ type: "text" as const, text }];
    // A model is shown the content alone, and could not go on otherwise.
    if (session_id === undefined) content.push({ type: "text", text: `session_id: ${sessionId}` });
    return {
      content,
      structuredContent: { answer: text, session_id: sessionId, finish_reason: finishReason },
    };
  },
});
