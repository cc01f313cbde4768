/**
 * The tool `schedule`: the agent proposes an automation, which a person approves as it will be. It has
 * no child side: the gate hands an approved one to the service, which switches it
 * on.
 *
 * @module
 */

import { z } from "zod";
import { automationSchema } from "../schedule/automation_schema.ts";
import { checkAutomation } from "../schedule/check_automation.ts";
import { isChannelName, isChatId } from "../base/chat_address.ts";
import { ServiceError } from "../base/errors.ts";
import { defineTool, type ScheduledTouch } from "../contract/tool.ts";

const { name, message, schedule: when, missed, retries, overlap } = automationSchema.shape;
const { maxSteps, tokenBudget } = automationSchema.shape;

const schema = z.strictObject({
  name,
  message: message.describe(
    "What you are told at each run, as the person would say it; you know nothing else then of this " +
      "conversation.",
  ),
  schedule: when.describe("Exactly one of at, every, and cron with timeZone."),
  deliver: z.enum(["always", "change", "error", "never"]).default("always").describe(
    "Which answers are sent: each, those that differ from the last, failures alone, or none.",
  ),
  channel: z.string().refine(isChannelName, "expected a channel's name, such as telegram")
    .optional().describe("Where answers are sent, together with chat_id. Default: this chat."),
  chat_id: z.string().refine(isChatId, "expected a chat's id").optional()
    .describe("A chat on that channel."),
  missed,
  retries,
  overlap,
  max_steps: maxSteps,
  token_budget: tokenBudget,
}).superRefine((args, context) => {
  if ((args.channel === undefined) !== (args.chat_id === undefined)) {
    const path = [args.channel === undefined ? "channel" : "chat_id"];
    context.addIssue({ code: "custom", path, message: "expected channel and chat_id together" });
  }
  if (args.deliver === "never" && args.channel !== undefined) {
    const message = "expected no channel when nothing is sent";
    context.addIssue({ code: "custom", path: ["channel"], message });
  }
  try {
    // What depends on the time is looked at when it is resolved.
    checkAutomation(specOf(args), { now: 0 });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    context.addIssue({ code: "custom", path: [], message: error.message });
  }
});

/** Arguments of {@linkcode schedule}. */
export type ScheduleArgs = z.infer<typeof schema>;

/** Proposes an automation. */
export const schedule = defineTool({
  name: "schedule",
  description: "Proposes an automation: a message that you are given again when it is due, when " +
    "nobody is there. A person sees all of it and approves it; it is on from then on. Its runs may " +
    "do nothing that needs a person, but what an operator granted to it beforehand: say so when the " +
    "message takes tools. Propose one only when the person asked for it.",
  capability: "automation.write",
  readOnly: false,
  schema,
  touches: touched,
  hint: (args) => `schedule ${args.name}`,
  timeoutMs: 10_000,
});

function touched(args: ScheduleArgs): ScheduledTouch {
  const { deliver, channel, chat_id: chatId } = args;
  return {
    kind: "automation",
    spec: specOf(args),
    ...deliver !== "never" && {
      deliver: {
        when: deliver,
        ...channel !== undefined && chatId !== undefined && { to: { channel, chatId } },
      },
    },
  };
}

function specOf(
  { name, message, schedule, missed, retries, overlap, max_steps, token_budget }: ScheduleArgs,
): ScheduledTouch["spec"] {
  const limits = { maxSteps: max_steps, tokenBudget: token_budget };
  return { name, message, schedule, missed, retries, overlap, ...limits, enabled: true };
}
