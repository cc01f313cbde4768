/**
 * The one text by which a grant names what it is for. Two actions have the same text only if they
 * touch the same thing, resolved: a link that leads elsewhere, one more character in a command or
 * another program under the same name is another text.
 *
 * @module
 */

import { joinHostPort } from "../base/host_pattern.ts";
import type { SecretTarget, Target } from "../contract/actions.ts";
import { canonicalJson } from "../base/canonical_json.ts";

/**
 * The text: the real path; the whole URL, with the headers as JSON where there are any;
 * `<channel>:<chat_id>`; a command's argv, real program, real folder and hosts as JSON;
 * `<server>/<tool>#<definition>`; or `<secret>@<host>:<port>` or `<secret>@<command>`; an automation
 * whole, as JSON. Undefined for what
 * could not be resolved, which nothing can grant. Capabilities keep texts of different kinds apart.
 */
export function grantTarget(target: Target): string | undefined {
  switch (target.kind) {
    case "path":
      return target.real;
    case "url":
      return target.headers === undefined
        ? target.url
        : canonicalJson({ url: target.url, headers: target.headers });
    case "chat":
      // A channel's name holds no colon; one that does could stand for another channel's chat.
      return target.channel.includes(":") ? undefined : `${target.channel}:${target.chatId}`;
    case "command": {
      const { argv, program, cwd, hosts } = target;
      return canonicalJson({ argv, program, cwd, hosts });
    }
    case "mcp":
      // Without its definition it is not known which tool that is. No server's name holds a slash.
      return /^[0-9a-f]{64}$/.test(target.definition) && !target.server.includes("/")
        ? `${target.server}/${target.tool}#${target.definition}`
        : undefined;
    case "secret":
      return target.name.includes("@")
        ? undefined
        : `${target.name}@${recipientText(target.recipient)}`;
    case "automation":
      return canonicalJson(target.spec);
    case "unresolved":
      return undefined;
  }
}

/** Who is given a secret: `<host>:<port>`, behind `http://` where nothing hides it on its way, or a command. */
export function recipientText(recipient: SecretTarget["recipient"]): string {
  if (recipient.kind === "host") {
    const { host, port, plain } = recipient;
    return `${plain ? "http://" : ""}${joinHostPort(host, port)}`;
  }
  const { argv, program, cwd, hosts } = recipient;
  return canonicalJson({ argv, program, cwd, hosts });
}
