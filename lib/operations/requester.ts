import type { GatewayAsking } from "./operation.ts";

/** Who asks the gateway, for the audit log: what they have shown. A command of this machine shows nothing. */
export function requesterOf({ credential }: Pick<GatewayAsking, "credential">): string {
  const isCommand = credential.kind === "token" && credential.token === "";
  return isCommand ? "cli" : credential.kind;
}
