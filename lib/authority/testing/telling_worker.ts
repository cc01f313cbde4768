/**
 * In place of the gateway, for tests: tells how much of what it was sent holds the text `KEY-OF-A-TOOL`,
 * as the number of turns that its end interrupted.
 *
 * @module
 */

import { standInGateway } from "./stand_in_gateway.ts";

let holding = 0;

function look(data: unknown): void {
  if (JSON.stringify(data).includes("KEY-OF-A-TOOL")) holding += 1;
}

standInGateway({
  start(boot) {
    look(boot);
    const providers = Object.keys(boot.config.providers).join();
    return { model: "none", modelReason: providers, interrupted: 0 };
  },
  drain: () => ({ interrupted: holding }),
}, look);
