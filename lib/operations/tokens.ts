/**
 * Tokens that last until they are revoked. Whoever could issue one over a port would have every scope, so
 * only the owner of the home does.
 *
 * @module
 */

import { z } from "zod";
import { SCOPES } from "../contract/credentials.ts";
import { seconds, toWire } from "./fields.ts";
import { homeOperation } from "./operation.ts";

const scopesForm = `one or more of ${SCOPES.join(", ")}`;
const scope = z.enum(SCOPES, scopesForm);
const idForm = "tok_ and 16 letters and digits, as service tokens list prints it";

const token = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  created_at: seconds,
  expires_at: seconds.optional().describe("Absent: until it is revoked."),
  last_used_at: seconds.optional(),
});

/** Operations on tokens. */
export const TOKENS = {
  "tokens.list": homeOperation({
    summary: "List valid tokens",
    command: "tokens list",
    input: z.object({}),
    output: z.object({ tokens: z.array(token).describe("Oldest first.") }),
    run: (_, { tokens }) => ({ tokens: tokens.list().map((each) => toWire(token, each)) }),
  }),
  "tokens.issue": homeOperation({
    summary: "Issue a token and print it",
    command: "tokens issue",
    input: z.object({
      scopes: z.array(scope, scopesForm).min(1, scopesForm)
        .describe(`Comma-separated: ${SCOPES.join(", ")}.`),
      name: z.string().optional().describe("Owner, for the list and the audit log."),
      expires_at: seconds.optional(),
    }),
    output: token.extend({ token: z.string().describe("Shown this once.") }),
    async run({ scopes, name = "", expires_at }, { tokens }) {
      const expiresAt = expires_at === undefined ? undefined : expires_at * 1_000;
      const issued = await tokens.issue({ scopes, name, expiresAt });
      return { token: issued.token, ...toWire(token, issued.info) };
    },
  }),
  "tokens.revoke": homeOperation({
    summary: "Revoke a token",
    command: "tokens revoke",
    args: ["id"],
    // The token itself may stand in its place.
    confidential: true,
    input: z.object({ id: z.string(idForm).regex(/^tok_[a-z0-9]{16}$/, idForm) }),
    output: z.object({ id: z.string(), name: z.string(), revoked: z.literal(true) }),
    async run({ id }, { tokens }) {
      const { name } = await tokens.revoke(id);
      return { id, name, revoked: true as const };
    },
  }),
};
