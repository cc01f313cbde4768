/**
 * Operations whose question is the credential itself.
 *
 * @module
 */

import { z } from "zod";
import { SCOPES } from "../contract/credentials.ts";

const expiresAt = z.number().describe("Milliseconds since 1970");
const scopes = z.array(z.enum(SCOPES)).readonly();

/** Asked with what is shown for it: a token to check, or the secret that tokens are issued for. */
export const CREDENTIAL_OPERATIONS = {
  "tokens.issue_api": {
    input: z.object({ scopes }),
    output: z.object({ token: z.string(), expiresAt }),
  },
  "tokens.check": {
    input: z.object({}),
    output: z.object({ id: z.string(), scopes, expiresAt: expiresAt.optional() }),
  },
};
