/**
 * What a refusal says to a person. The model is told the same in one text.
 *
 * @module
 */

/** Why, and the command that would allow it, where one would. */
export interface Refusal {
  reason: string;
  remedy?: { lead: string; command: string };
}

const COMMAND = /(?:which the operator can make with|with): (service (?:grants|blocks) [^]*)$/;

/** Reads the output of a call that was refused. */
export function readRefusal(output: string): Refusal {
  const command = COMMAND.exec(output)?.[1];
  if (command === undefined) return { reason: output };
  const lead = command.startsWith("service blocks")
    ? "Blocked in this session. Unblock it with:"
    : "Allow it with:";
  const reason = output.split(/\. (?:It would take|In this session nothing more) /)[0]!;
  return { reason, remedy: { lead, command } };
}
