/**
 * In place of the service, for tests: sends a message as soon as it is up, and dies when it is handed
 * that message for its outbox.
 *
 * @module
 */

import type { ToAuthority, ToService } from "../bridge.ts";

const port = self as unknown as {
  postMessage(message: ToAuthority): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToService>) => void): void;
};

port.addEventListener("message", ({ data }) => {
  switch (data.type) {
    case "boot":
      port.postMessage({ type: "started", model: "none", modelReason: "a test", interrupted: 0 });
      return port.postMessage({
        type: "action",
        id: 1,
        request: {
          tool: "message",
          args: { content: "hi", channel: "telegram", chat_id: "12345" },
          context: {
            sessionKey: "cli:test",
            turnId: "turn-1",
            callId: "call-1",
            channel: "cli",
            actor: "cli:local",
            attended: true,
            personHosts: [],
            toolUrls: [],
          },
        },
      });
    case "enqueue":
      throw new Error(`died of ${data.message.content}`);
  }
});
