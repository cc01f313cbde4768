/**
 * The one text by which a grant names what it is for. Two actions have the same text only if they
 * touch the same thing, resolved: a link that leads elsewhere, one more character in a command or
 * another program under the same name is another text (decisions E2).
 *
 * @module
 */

import type { Target } from "../actions.ts";
import { canonicalJson } from "../canonical_json.ts";

/**
 * The text: the real path, the whole URL, `<channel>:<chat_id>`, or a command's argv, real program and
 * real folder as JSON. Undefined for what could not be resolved, which nothing can grant. Capabilities
 * keep texts of different kinds apart.
 */
export function grantTarget(target: Target): string | undefined {
  switch (target.kind) {
    case "path":
      return target.real;
    case "url":
      return target.url;
    case "chat":
      // A channel's name holds no colon; one that does could stand for another channel's chat.
      return target.channel.includes(":") ? undefined : `${target.channel}:${target.chatId}`;
    case "command": {
      const { argv, program, cwd } = target;
      return canonicalJson({ argv, program, cwd });
    }
    case "unresolved":
      return undefined;
  }
}
