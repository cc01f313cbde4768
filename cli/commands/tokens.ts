/**
 * `service tokens`: who may read, chat, approve and operate without a browser on this machine.
 *
 * @module
 */

import { z } from "zod";
import type { Scope } from "../../lib/contract/credentials.ts";
import { TOKENS } from "../../lib/operations/tokens.ts";
import type { Command, ExitCode, Invocation } from "../command.ts";
import { askSubcommand, listSubcommand, runSubcommand } from "../operator/ask_subcommand.ts";
import { parseDuration } from "../operator/duration.ts";
import { asksHere, type HomeSubcommand } from "../operator/operate_here.ts";
import { resetSubcommand } from "../operator/reset.ts";
import { type OperatorDeps, operatorDeps } from "../operator/with_state.ts";
import { isoSeconds } from "../time_text.ts";

/** What is typed: how long it is valid, not until when. */
const ISSUE_COMMAND = {
  ...TOKENS["tokens.issue"],
  input: TOKENS["tokens.issue"].input.omit({ expires_at: true }).extend({
    expires: z.string().optional()
      .meta({ placeholder: "TIME", description: "Lifetime, such as 12h or 30d (never expires)" }),
  }),
};

const SUBCOMMANDS: HomeSubcommand[] = [
  listSubcommand("tokens.list", TOKENS["tokens.list"], {
    rows: ({ tokens }) => tokens,
    columns: ["TOKEN", "SCOPES", "CREATED", "EXPIRES", "LAST USED", "NAME"],
    cells: ({ id, scopes, created_at, expires_at, last_used_at, name }, time) => [
      id,
      scopes.join(","),
      time(created_at),
      time(expires_at),
      time(last_used_at),
      name,
    ],
    none: "No tokens. Issue one with: service tokens issue --scopes approve",
  }),
  askSubcommand("tokens.issue", ISSUE_COMMAND, {
    asked: ({ expires, ...asked }, now) => ({
      ...asked,
      ...expires !== undefined && {
        expires_at: Math.floor((now + parseDuration("expires", expires)) / 1_000),
      },
    }),
    say({ id, token, scopes, expires_at }, out) {
      out.line(token);
      const until = expires_at === undefined
        ? "until it is revoked"
        : `until ${isoSeconds(expires_at * 1_000)}`;
      out.note(`${id} may ${listed(scopes)} ${until}. Copy the token now: it is not shown again`);
    },
  }),
  askSubcommand("tokens.revoke", TOKENS["tokens.revoke"], {
    say: ({ id, name }, out) => out.note(`Revoked ${id}${name === "" ? "" : ` (${name})`}`),
  }),
  resetSubcommand("tokens", "Set a damaged file of tokens aside, and start empty"),
];

/** Runs the command. */
export function runTokens(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  return runSubcommand(SUBCOMMANDS, invocation, asksHere(deps));
}

/** What a token may do, in words; `secrets` is no verb. */
function listed(scopes: readonly Scope[]): string {
  const words = scopes.map((scope) => scope === "secrets" ? "keep secrets" : scope);
  const last = words.at(-1)!;
  return words.length === 1 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

const tokens: Command = {
  description:
    "Issues and revokes API tokens. Scopes: read (sessions, settings, listings), chat (start turns), " +
    "approve (answer pending actions), secrets (manage secrets), operate (all of these and every " +
    "other operation). A token is shown once; only its digest is stored. Programs send it to the " +
    "WebSocket port as Authorization: Bearer. Other commands read it from SERVICE_APPROVER_TOKEN or " +
    "ask for it; service chat reads SERVICE_TOKEN. A running gateway applies changes at once.",
  examples: [
    "service tokens issue --scopes approve --name ann --expires 30d",
    "service tokens issue --scopes read,chat --name laptop",
    "service tokens list",
    "service tokens revoke tok_abcdefghjkmnpqrs",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: SUBCOMMANDS.map(({ spec }) => spec),
  run: (invocation) => runTokens(invocation, operatorDeps(invocation.globals)),
};

export default tokens;
