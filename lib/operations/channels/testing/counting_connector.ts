/** A connector that has only its memory, for tests. */

import type { Connector } from "../../../channel/descriptor.ts";

let polls = -1;

/** Is connected by the second poll, if it was started here. */
export const connector: Connector = {
  handle(action, { secret }) {
    if (action === "start") polls = 0;
    else if (action === "poll" && polls >= 0) polls++;
    else return Promise.resolve({ state: "cancelled", message: "It was never started" });
    if (polls < 2) return Promise.resolve({ state: "waiting", message: `poll ${polls}` });
    return Promise.resolve({
      state: "connected",
      message: `It is ${secret}`,
      values: { server: "irc.example", botToken: secret },
    });
  },
};
