/**
 * From a secret that a call asks for to the action that its use is: the secret, and who would be given
 * it, as the call's own target says.
 *
 * @module
 */

import type { SecretTarget, Target } from "../../contract/actions.ts";

/** Whoever is given a secret by a call with this target; undefined where nobody is. */
export function secretTarget(name: string, target: Target): SecretTarget | undefined {
  switch (target.kind) {
    case "url": {
      const { url, host, port } = target;
      const plain = url.startsWith("https:") ? {} : { plain: true as const };
      return { kind: "secret", name, recipient: { kind: "host", host, port, ...plain } };
    }
    case "command": {
      // With its hosts: to whom the command could send it is a part of who is given it.
      return { kind: "secret", name, recipient: target };
    }
    case "path":
    case "chat":
    case "mcp":
    case "automation":
    case "secret":
    case "unresolved":
      return undefined;
  }
}
