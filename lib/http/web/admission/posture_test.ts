import { assertEquals } from "@std/assert";
import { configSchema } from "../../../config/schema.ts";
import { posture } from "./posture.ts";

for (
  const [keys, line] of [
    [{}, "issued tokens, given to trusted users of this machine; any client_id"],
    [
      { token: "hunter2", allowFrom: ["ann"] },
      "the static token and issued ones, given to whoever shows the secret; 1 client_id",
    ],
    [
      { tokenIssueSecret: "hunter2", tokenIssuePath: "/token", allowFrom: [] },
      "issued tokens, given to whoever shows the secret (also at /token); 0 client_ids",
    ],
    [
      { websocketRequiresToken: false, tokenIssuePath: "/token" },
      "anybody who reaches the port, without a token; tokens are given to whoever asks at /token, " +
      "and trusted users of this machine; any client_id",
    ],
    [{ socketPath: "/run/a.sock" }, "issued tokens, given to nobody; any client_id"],
  ] as [Record<string, unknown>, string][]
) {
  Deno.test(`posture() says who is let in with ${JSON.stringify(keys)}, and no secret`, () => {
    const { websocket } = configSchema.parse({ channels: { websocket: keys } }).channels;
    assertEquals(posture(websocket), line);
    const proxy = { posture: "trusted proxy: signed" };
    assertEquals(posture(websocket, proxy), `trusted proxy: signed; ${line}`);
  });
}
