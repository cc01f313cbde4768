/**
 * In place of the gateway, for tests: sends a message as soon as it is up, and dies when it is handed
 * that message for its outbox.
 *
 * @module
 */

import { standInGateway } from "./stand_in_gateway.ts";

const peer = standInGateway({
  start() {
    setTimeout(() => {
      void peer.call("act", {
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
      });
    });
    return { model: "none", modelReason: "a test", interrupted: 0 };
  },
  enqueue(message) {
    // Not an answer: the Worker's own end.
    setTimeout(() => {
      throw new Error(`died of ${message.content}`);
    });
    return new Promise(() => {});
  },
});
