/**
 * What a turn is told of an action that did not run: capability, target, why, and what it would take.
 * Every name in it is shown with hidden characters made visible, since the model chose it.
 *
 * @module
 */

import { joinHostPort } from "../base/host_pattern.ts";
import type {
  ActionContext,
  ActionResult,
  CommandTarget,
  Decision,
  ResolvedAction,
  SecretTarget,
  Target,
} from "../contract/actions.ts";
import { deliveryWords, scheduleWords } from "./automation_words.ts";
import { grantTarget, recipientText } from "./grant_target.ts";
import { shellWord } from "./shell_word.ts";
import { visibleLine } from "../base/visible_text.ts";

/** Longest command line that is offered, characters. */
const MAX_COMMAND_CHARS = 4_000;

/** Longest message of an automation that stands in a line, characters. */
const MAX_MESSAGE_CHARS = 300;

/** A target on one line. */
export function describeTarget(target: Target): string {
  switch (target.kind) {
    case "path":
      return visibleLine(target.real);
    case "url": {
      const { url, headers } = target;
      const added = headers === undefined ? "" : ` (headers: ${Object.keys(headers).join(", ")})`;
      return visibleLine(url + added);
    }
    case "chat":
      return visibleLine(`${target.channel}:${target.chatId}`);
    case "command":
      return describeCommand(target);
    case "mcp":
      return visibleLine(`${target.server}/${target.tool}`);
    case "secret":
      return visibleLine(`${target.name}@${describeRecipient(target.recipient)}`);
    case "automation": {
      const { name, message, schedule, delivery } = target.spec;
      const to = delivery === undefined ? "" : `, answers: ${deliveryWords(delivery)}`;
      return visibleLine(`${name} (${scheduleWords(schedule)}${to}): ${cut(message)}`);
    }
    case "unresolved":
      return visibleLine(target.what);
  }
}

function cut(message: string): string {
  return message.length <= MAX_MESSAGE_CHARS
    ? message
    : `${message.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}…`;
}

/** Who is given a secret, on one line. */
export function describeRecipient(recipient: SecretTarget["recipient"]): string {
  return recipient.kind === "host"
    ? visibleLine(recipientText(recipient))
    : describeCommand(recipient);
}

function describeCommand({ argv, hosts }: CommandTarget): string {
  const network = hosts === undefined ? "" : ` (network: ${visibleLine(hosts.join(", "))})`;
  return argv.map(shellWord).join(" ") + network;
}

/**
 * The command line that makes the grant for exactly this action in this session; undefined for what
 * nothing can grant, and for what is too long to be typed.
 */
export function grantCommand(
  { capability, target }: Pick<ResolvedAction, "capability" | "target">,
  { sessionKey, automation }: Pick<ActionContext, "sessionKey" | "automation">,
): string | undefined {
  const text = grantTarget(target);
  if (text === undefined || !text.isWellFormed()) return undefined;
  const subject = automation === undefined ? sessionKey : `automation:${automation.id}`;
  const command = `service grants add ${shellWord(subject)} ${capability} ${shellWord(text)}`;
  return command.length > MAX_COMMAND_CHARS ? undefined : command;
}

/** What it would take for a refused action to be allowed, in a sentence. */
export function remedy(
  action: Pick<ResolvedAction, "capability" | "target">,
  { effect, rule }: Pick<Decision, "effect" | "rule">,
  context: Pick<ActionContext, "sessionKey" | "automation" | "attended">,
): string {
  const { capability, target } = action;
  const command = grantCommand(action, context);
  const grant = `a grant of ${capability} for exactly "${describeTarget(target)}" in the session ` +
    `"${visibleLine(context.sessionKey)}", which the operator can make` +
    (command === undefined ? "" : ` with: ${command}`);
  switch (rule) {
    case "latched":
      return `It would take the operator to clear that denial with: service blocks clear ${
        shellWord(context.sessionKey)
      } ${capability}`;
    case "state":
      return "Nothing that needs a grant or a person is allowed until the operator has mended that.";
    case "fetch.private":
      return "It would take an entry in gates.privateHosts, which only the operator can make.";
    case "secret.scope":
    case "secret.unknown":
      return "Neither an approval nor a grant can allow it." +
        (target.kind === "secret" ? ` ${secretRemedy(target)}` : "");
    case "mcp.other": {
      if (target.kind !== "mcp") return `It would take a person's approval or ${grant}`;
      const { server, tool } = target;
      return `It would take a person's approval, the entry ${
        JSON.stringify(visibleLine(tool))
      } in ` +
        `mcp.servers.${server}.allow, which only the operator can make, or ${grant}`;
    }
    case "exec.network":
      return "It would take a person's approval, entries for these hosts in executor.hosts, which " +
        `only the operator can make, or ${grant}`;
    case "message.other":
      return `It would take a person's approval, the entry "${
        describeTarget(target)
      }" in gates.messageTargets, which only the operator can make, or ${grant}`;
    case "nobody":
    case "unattended":
      return `It would take ${grant}`;
    default:
      return effect === "ask"
        ? `It would take a person's approval or ${grant}`
        : "Neither an approval nor a grant can allow it.";
  }
}

/** How a secret comes to be for whoever asks. What it is for already has to be said again. */
function secretRemedy({ name, recipient }: SecretTarget): string {
  const [option, text] = recipient.kind === "host"
    ? ["--host", joinHostPort(recipient.host, recipient.port)]
    : ["--command", JSON.stringify(recipient.argv)];
  const command = `service secrets set ${shellWord(name)} ${option} ${shellWord(text)}`;
  const shown = command.length > MAX_COMMAND_CHARS
    ? `service secrets set ${shellWord(name)} ${option} …`
    : command;
  return `The operator can set it anew, naming all that it is for: ${shown}`;
}

/** The result of an action that the gate did not allow. */
export function refusal(
  action: ResolvedAction,
  decision: Decision,
  context: Pick<ActionContext, "sessionKey" | "automation" | "attended">,
): ActionResult {
  const what = describeTarget(action.target);
  const { capability } = action;
  const { rule, reason } = decision;
  const message = `Refused: ${capability} of "${what}" (rule ${rule}: ${visibleLine(reason)})`;
  return {
    status: "refused",
    output: `${message}. ${remedy(action, decision, context)}`,
    error: { code: "refused", message },
    ...(rule === "nobody" || rule === "unattended") && {
      remedy: { command: grantCommand(action, context) },
    },
  };
}
