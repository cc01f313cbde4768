/**
 * Who a secret is for: hosts that it may be sent to and commands that it may be given to, as the operator
 * set it. Nothing else ever gets it, whatever a rule or a person says.
 *
 * @module
 */

import { joinHostPort, meansHost, parseHostPattern } from "../base/host_pattern.ts";
import type { SecretTarget } from "../contract/actions.ts";
import type { SecretInfo } from "../contract/secrets.ts";
import { shellWord } from "./shell_word.ts";
import { parsePattern, PatternSubject } from "./target_pattern.ts";

/** What decisions go by. */
export type SecretScope = Pick<SecretInfo, "name" | "hosts" | "commands">;

/** Whether a secret is for whoever would be given it. `workspace` is a real path. */
export function isInScope(
  { hosts, commands }: SecretScope,
  recipient: SecretTarget["recipient"],
  workspace: string,
): boolean {
  if (recipient.kind === "host") {
    const { host, port, plain } = recipient;
    return hosts.some((text) => {
      const pattern = parseHostPattern(text);
      if (pattern === undefined || !meansHost(pattern, host, port)) return false;
      // Everybody on the way reads what goes over http: that takes a scope that speaks of this very port.
      return !plain || pattern.port !== undefined;
    });
  }
  const subject = new PatternSubject(recipient, workspace);
  return commands.some((text) => {
    const pattern = parsePattern("command", text);
    return pattern !== undefined && subject.matches(pattern, "exact");
  });
}

/** Why a secret is not for whoever asks, for people: names the secret, who asks, and the scope. */
export function outOfScope(
  { name, recipient }: Pick<SecretTarget, "name" | "recipient">,
  { hosts, commands }: SecretScope,
): string {
  const where = recipient.kind === "command"
    ? "this command"
    : recipient.plain
    ? `http://${joinHostPort(recipient.host, recipient.port)}`
    : joinHostPort(recipient.host, recipient.port);
  const scope = [
    ...hosts.length === 0 ? [] : [`hosts: ${hosts.join(", ")}`],
    ...commands.length === 0 ? [] : [`commands: ${commands.map(commandLine).join(", ")}`],
  ];
  const said = scope.length === 0
    ? "it has no scope, and so is for the configuration alone"
    : `its scope is ${scope.join("; ")}`;
  const plain = recipient.kind === "host" && recipient.plain
    ? "; over http a scope has to name the port too"
    : "";
  return `the secret ${name} is not for ${where}: ${said}${plain}`;
}

/** As commands are shown that were asked for: a text for the shell is another one than a list of its words. */
function commandLine(text: string): string {
  const pattern = parsePattern("command", text);
  return pattern?.kind === "command" ? pattern.argv.map(shellWord).join(" ") : text;
}
