/**
 * What people have denied in sessions, and how it is taken back.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES } from "../../contract/actions.ts";
import type { OperatorAnswer } from "../../operations/operator.ts";
import type { Operate } from "../api/approvals.ts";
import { check } from "../api/request_error.ts";
import type { WebRoute } from "./web_route.ts";

const PATH = "/api/webui/latches";

const capability = z.enum(CAPABILITIES, `one of ${CAPABILITIES.join(", ")}`);

const latchAnswer = z.object({
  session: z.string(),
  capability,
  since: z.int().describe("Seconds since 1970."),
  reason: z.string().describe("The denial's words."),
});

const named = z.object({ session: z.string().max(300, "at most 300 characters"), capability });

/** `operate` asks the authority. */
export function createLatchesRoutes({ operate }: { operate: Operate }): WebRoute[] {
  return [
    {
      method: "GET",
      path: PATH,
      scope: "approve",
      summary: "List what people have denied in sessions",
      docs: { answer: z.object({ latches: z.array(latchAnswer) }).describe("Oldest first.") },
      async handle({ caller }) {
        const answer = await operate({ op: "latches.list" }, caller.credential);
        const { latches } = answer as Extract<OperatorAnswer, { latches: unknown }>;
        return Response.json({
          latches: latches.map(({ sessionKey, capability, since, reason }) => ({
            session: sessionKey,
            capability,
            since: Math.floor(since / 1000),
            reason,
          })),
        });
      },
    },
    {
      method: "DELETE",
      path: `${PATH}/:session/:capability`,
      summary: "Let the session ask for the capability again",
      docs: {
        answer: z.object({ ...named.shape, cleared: z.literal(true) }),
        errors: ["not_found"],
      },
      async handle({ caller, params }) {
        const { session, capability } = check(named, params);
        await operate({ op: "latches.clear", sessionKey: session, capability }, caller.credential);
        return Response.json({ session, capability, cleared: true });
      },
    },
  ];
}
