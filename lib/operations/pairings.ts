/**
 * Strangers who wrote to a bot and were given a code: who they are, and letting them write.
 *
 * @module
 */

import { z } from "zod";
import { type Pairing, PAIRING_MS } from "../state/pairing_store.ts";
import { seconds, toWire } from "./fields.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

const CODE = "the code that the bot told them";
const code = z.string(CODE).min(1, CODE).max(100, CODE);

const stranger = {
  channel: z.string(),
  runtime_name: z.string().describe("The channel, or one of its instances."),
  sender_id: z.string().describe("The platform's; it goes into allowFrom."),
  sender_name: z.string().optional().describe("As they call themselves; anybody can take any."),
};

const pairing = z.object({
  code: z.string(),
  ...stranger,
  created_at: seconds,
  expires_at: seconds,
});

/** Operations on codes of strangers. */
export const PAIRINGS = {
  "pairings.list": operation({
    summary: "List strangers who were given a code, oldest first",
    scope: "operate",
    command: "channels pairings",
    input: z.object({}),
    output: z.object({ pairings: z.array(pairing) }),
    route: { method: "GET", path: "/api/webui/pairings" },
    run: (_, parts) => ({
      pairings: enabled(parts.pairings).list().map((each) =>
        toWire(pairing, { ...each, expiresAt: each.createdAt + PAIRING_MS })
      ),
    }),
  }),
  "pairings.pair": operation({
    summary: "Let a stranger write, by their code: their id goes into allowFrom of the channel",
    scope: "operate",
    command: "channels pair",
    input: z.object({ code }),
    output: z.object(stranger).describe("Who may write now."),
    route: {
      method: "POST",
      path: "/api/webui/pairings/:code",
      errors: ["not_found", "refused", "overloaded"],
    },
    async run({ code }, parts, { by }) {
      const [pairings, allowSender] = [enabled(parts.pairings), enabled(parts.allowSender)];
      const found: Pairing = await pairings.find(code);
      await allowSender(found, by);
      await pairings.remove(found.code);
      return toWire(z.object(stranger), found);
    },
  }),
  "pairings.dismiss": operation({
    summary: "Dismiss a stranger's code: it lets nobody in, and they get no other for its hour",
    scope: "operate",
    command: "channels dismiss",
    input: z.object({ code }),
    output: z.object(stranger).describe("Whose code it was."),
    route: {
      method: "DELETE",
      path: "/api/webui/pairings/:code",
      errors: ["not_found", "overloaded"],
    },
    async run({ code }, parts) {
      const pairings = enabled(parts.pairings);
      const found: Pairing = await pairings.find(code);
      await pairings.dismiss(found.code);
      return toWire(z.object(stranger), found);
    },
  }),
};
