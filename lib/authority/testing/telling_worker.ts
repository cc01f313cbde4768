/**
 * In place of the service, for tests: tells how much of what it was sent holds the text `KEY-OF-A-TOOL`,
 * as the number of turns that its end interrupted.
 *
 * @module
 */

import type { ToAuthority, ToService } from "../bridge.ts";

const port = self as unknown as {
  postMessage(message: ToAuthority): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToService>) => void): void;
};

let holding = 0;

port.addEventListener("message", ({ data }) => {
  if (JSON.stringify(data).includes("KEY-OF-A-TOOL")) holding += 1;
  switch (data.type) {
    case "boot": {
      const providers = Object.keys(data.boot.config.providers).join();
      return port.postMessage({
        type: "started",
        model: "none",
        modelReason: providers,
        interrupted: 0,
      });
    }
    case "drain":
      return port.postMessage({ type: "drained", interrupted: holding });
  }
});
