/** Checks and connectors of a channel, for tests. */

import type { Connector, SetupContext, SetupFinding } from "../../channel/descriptor.ts";

/** Finds what its values say. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { allowLocalServiceAccess, signal }: SetupContext,
): Promise<SetupFinding[]> {
  switch (values.do) {
    case "throw":
      throw new Error(`no answer from ${values.token}`);
    case "hang":
      return await new Promise(() => {});
    case "exit":
      Deno.exit(1);
      break;
    case "odd":
      return [{ level: "fatal", message: "x" }] as unknown as SetupFinding[];
    case "function":
      return [(() => {}) as unknown as SetupFinding];
  }
  return [{
    level: "warning",
    field: "host",
    message: `${values.host} ${allowLocalServiceAccess} ${signal.aborted}`,
  }];
}

/** Connects at once, or never. */
export const connector: Connector = {
  handle(action, query) {
    if (action === "cancel") return Promise.resolve({ state: "cancelled", message: "Cancelled" });
    if (query.odd !== undefined) return Promise.resolve({ state: "odd" } as never);
    return Promise.resolve({
      state: "connected",
      message: "Connected",
      values: { token: "a-secret-token" },
    });
  },
};
