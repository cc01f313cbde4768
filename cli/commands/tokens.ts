/**
 * `service tokens`: who may read, chat, approve and operate without a browser on this machine.
 *
 * @module
 */

import { type Scope, SCOPES } from "../../lib/contract/credentials.ts";
import type { TokenInfo } from "../../lib/state/token_store.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { parseDuration } from "../operator/duration.ts";
import { reset, YES } from "../operator/reset.ts";
import { changeState, type OperatorDeps, operatorDeps, readState } from "../operator/with_state.ts";
import { jsonLine, type Output } from "../output.ts";
import { printTable } from "../table.ts";
import { isoSeconds, timeText } from "../time_text.ts";

/** Runs the command. */
export async function runTokens(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  const { subcommand = "list", args, globals, out } = invocation;
  switch (subcommand) {
    case "issue":
      return await issue(invocation, deps);
    case "revoke":
      return await revoke(args[0]!, globals.json, out, deps);
    case "reset":
      return await reset("tokens", invocation, deps);
    default:
      return await list(globals.json, out, deps);
  }
}

async function issue(
  { options, globals, out }: Invocation,
  deps: OperatorDeps,
): Promise<ExitCode> {
  const scopes = parseScopes(options["scopes"] as string | undefined);
  const name = options["name"] as string | undefined ?? "";
  const expires = options["expires"] as string | undefined;
  const expiresAt = expires === undefined
    ? undefined
    : deps.now() + parseDuration("expires", expires);
  const { token, info } = await changeState(
    deps,
    out,
    (state) => state.tokens.issue({ name, scopes, expiresAt }),
  );
  if (globals.json) out.json({ token, ...info });
  else {
    out.line(token);
    const until = expiresAt === undefined
      ? "until it is revoked"
      : `until ${isoSeconds(expiresAt)}`;
    out.note(
      `${info.id} may ${listed(info.scopes)} ${until}. Copy the token now: it is not shown again`,
    );
  }
  return EXIT.done;
}

async function list(json: boolean, out: Output, deps: OperatorDeps): Promise<ExitCode> {
  const tokens = await readState(deps, (state) => state.tokens.list());
  if (json) {
    for (const token of tokens) await out.stream(jsonLine(token) + "\n");
  } else if (tokens.length === 0) {
    out.note("No tokens. Issue one with: service tokens issue --scopes approve");
  } else {
    printTable(
      out,
      ["TOKEN", "SCOPES", "CREATED", "EXPIRES", "LAST USED", "NAME"],
      tokens.map((token) => tokenRow(token, out, deps.now())),
    );
  }
  return EXIT.done;
}

function tokenRow(
  { id, scopes, createdAt, expiresAt, lastUsedAt, name }: TokenInfo,
  out: Output,
  now: number,
): string[] {
  const time = (ms: number | undefined) => timeText(out, ms, now);
  return [id, scopes.join(","), time(createdAt), time(expiresAt), time(lastUsedAt), name];
}

async function revoke(
  id: string,
  json: boolean,
  out: Output,
  deps: OperatorDeps,
): Promise<ExitCode> {
  // What was typed may be the token itself, so it is not repeated.
  if (!/^tok_[a-z0-9]{16}$/.test(id)) {
    throw new ServiceError(
      "usage",
      "Invalid ID: expected tok_ and 16 letters and digits, as " +
        "service tokens list prints it",
      { param: "ID" },
    );
  }
  const info = await changeState(deps, out, (state) => state.tokens.revoke(id));
  if (json) out.json({ id, revoked: true });
  else out.note(`Revoked ${id}${info.name === "" ? "" : ` (${info.name})`}`);
  return EXIT.done;
}

/** What a token may do, in words; `secrets` is no verb. */
function listed(scopes: readonly Scope[]): string {
  const words = scopes.map((scope) => scope === "secrets" ? "keep secrets" : scope);
  const last = words.at(-1)!;
  return words.length === 1 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** Scopes as typed: `approve,operate`. */
function parseScopes(typed: string | undefined): Scope[] {
  const names = (typed ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
  const isScope = (name: string): name is Scope => SCOPES.some((scope) => scope === name);
  if (names.length > 0 && names.every(isScope)) return names;
  const got = typed === undefined ? "missing" : JSON.stringify(typed.slice(0, 100));
  throw new ServiceError(
    "usage",
    `Option --scopes is ${got}; expected one or more of ${SCOPES.join(", ")}, with commas between`,
    { param: "scopes" },
  );
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
  subcommands: [
    { name: "list", summary: "List valid tokens" },
    {
      name: "issue",
      summary: "Issue a token and print it",
      options: [
        {
          name: "scopes",
          value: "SCOPES",
          summary: "Comma-separated: read, chat, approve, secrets, operate",
        },
        { name: "name", value: "NAME", summary: "Owner, for the list and the audit log" },
        { name: "expires", value: "TIME", summary: "Lifetime, such as 12h or 30d (never expires)" },
      ],
    },
    { name: "revoke", args: "ID", summary: "Revoke a token" },
    {
      name: "reset",
      summary: "Set a damaged file of tokens aside, and start empty",
      options: [YES],
    },
  ],
  run: (invocation) => runTokens(invocation, operatorDeps(invocation.globals)),
};

export default tokens;
