/**
 * `service secrets`: values that tools and the configuration may use and nobody is shown.
 *
 * @module
 */

import { z } from "zod";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { SECRETS } from "../../lib/operations/secrets.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import { isSecretName, SECRET_NAME_FORM } from "../../lib/secrets/secret_name.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { askSubcommand, listSubcommand, runSubcommand } from "../operator/ask_subcommand.ts";
import { asksHere, type HomeSubcommand, operateHere } from "../operator/operate_here.ts";
import { type Differences, operationSubcommand } from "../operator/operation_subcommand.ts";
import { resetSubcommand } from "../operator/reset.ts";
import { type OperatorDeps, operatorDeps } from "../operator/with_state.ts";
import type { Output } from "../output.ts";
import type { ValueSource } from "../secrets/read_value.ts";

/** Options in place of fields. */
const SET_OPTIONS: Differences = {
  without: ["value", "hosts", "commands"],
  options: [
    {
      name: "host",
      value: "HOST",
      repeatable: true,
      summary: "Host that may receive it: <host>, <host>:<port> or *.<host>",
    },
    {
      name: "command",
      value: "COMMAND",
      repeatable: true,
      summary: "Whole command that may receive it: a JSON array, or a line for the shell",
    },
  ],
};

/** What is typed is no longer than a name: it may be the value itself. */
const REMOVE_COMMAND = {
  ...SECRETS["secrets.remove"],
  input: z.object({ name: z.string().refine(isSecretName, SECRET_NAME_FORM) }),
};

/** What the command reaches outside of itself. */
export interface SecretsDeps extends OperatorDeps {
  valueSource(out: Output): ValueSource | Promise<ValueSource>;
}

const SUBCOMMANDS: HomeSubcommand<SecretsDeps>[] = [
  listSubcommand("secrets.list", SECRETS["secrets.list"], {
    rows: ({ secrets }) => secrets,
    columns: ["NAME", "HOSTS", "SET", "CHANGED", "COMMANDS"],
    cells: ({ name, hosts, commands, created_at, updated_at }, time) => [
      name,
      hosts.join(", ") || "-",
      time(created_at),
      time(updated_at),
      commands.map(visibleLine).join("; ") || "-",
    ],
    none: "No secrets. Set one with: service secrets set NAME",
    after: ({ damaged }, out) => {
      if (damaged !== null) out.note(`Their values can't be read. ${damaged}`);
    },
  }),
  { spec: operationSubcommand(SECRETS["secrets.set"], SET_OPTIONS), run: set },
  askSubcommand("secrets.remove", REMOVE_COMMAND, {
    say({ name, problems }, out) {
      out.note(`Removed ${name}`);
      if (problems.length > 0) noteProblems(out, problems);
    },
  }),
  resetSubcommand("secrets", "Set secrets aside that can't be read, and start empty"),
];

/** Runs the command. */
export function runSecrets(invocation: Invocation, deps: SecretsDeps): Promise<ExitCode> {
  return runSubcommand(SUBCOMMANDS, invocation, asksHere(deps));
}

async function set(
  { args, options, globals, out }: Invocation,
  deps: SecretsDeps,
): Promise<ExitCode> {
  const [{ checkSecretPlace }, { readValue }] = await Promise.all([
    import("../../lib/state/secret_fields.ts"),
    import("../secrets/read_value.ts"),
  ]);
  const [name] = args as [string];
  const hosts = options["host"] as string[] | undefined;
  const commands = options["command"] as string[] | undefined;
  // Before anybody types a value for nothing.
  checkSecretPlace({ name, hosts: hosts ?? [], commands: commands ?? [] });
  const value = await readValue(name, await deps.valueSource(out));
  if (value === undefined) {
    out.note("Nothing was set");
    return EXIT.interrupted;
  }
  const secret = await operateHere({ op: "secrets.set", name, value, hosts, commands }, deps, out);
  if (isWord(value)) {
    out.note(
      `The value of ${name} is a single word or number, which is hidden wherever it appears in text. ` +
        "A random value appears nowhere else",
    );
  }
  if (globals.json) {
    out.json(secret);
    return EXIT.done;
  }
  out.note(`${name} is set${scopeNote(secret)}`);
  if (secret.problems.length > 0) noteProblems(out, secret.problems);
  else noteUses(out, secret);
  return EXIT.done;
}

function noteUses(out: Output, { keys, restart }: OperationResult<"secrets.set">): void {
  const now = keys.filter((key) => !restart.includes(key));
  if (now.length > 0) out.note(`A running gateway uses it for ${now.join(", ")} at once`);
  if (restart.length > 0) {
    out.note(`Restart the gateway to use it for ${restart.join(", ")}`);
  }
}

/** What stands in texts that have nothing to do with it: `password`, `12345678`. */
function isWord(value: string): boolean {
  return /^(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\d+)$/u.test(value.trim()) && value.trim().length <= 16;
}

function scopeNote({ name, hosts, commands }: OperationResult<"secrets.get">): string {
  const parts = [
    ...hosts.length === 0 ? [] : [`for hosts ${hosts.join(", ")}`],
    ...commands.length === 0 ? [] : [`for commands ${commands.map(visibleLine).join(", ")}`],
  ];
  return parts.length > 0
    ? `, ${parts.join(" and ")}`
    : `, for the configuration only, as \${secret:${name}}. To let tools use it, add --host or ` +
      "--command";
}

function noteProblems(out: Output, problems: readonly string[]): void {
  out.note("The gateway won't start with this configuration:");
  for (const problem of problems) out.note(`  ${problem}`);
}

const secrets: Command = {
  description:
    "Stores provider keys and tool tokens encrypted. In the configuration, write ${secret:NAME}. A " +
    "tool asks for a secret by name, and gets it only for the hosts and commands you allow here. The " +
    "value is typed at a hidden prompt or piped in (one trailing newline is dropped). It must be at " +
    "least 8 characters and is never shown again. Setting a secret again keeps its hosts and commands " +
    "unless you pass --host or --command. The encryption key is in the keys folder of the home, or in " +
    "SERVICE_SECRETS_KEY.",
  examples: [
    "service secrets set OPENAI --host api.openai.com",
    "pass show github | service secrets set GITHUB_TOKEN --host api.github.com --host '*.github.com'",
    `service secrets set DEPLOY_KEY --command '["/usr/local/bin/deploy"]'`,
    "service secrets list",
    "service secrets rm OPENAI",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: SUBCOMMANDS.map(({ spec }) => spec),
  hidesTyped: "A value is never an argument, which other processes and the shell's history could " +
    "show: it is asked for, or read from standard input",
  run: (invocation) =>
    runSecrets(invocation, {
      ...operatorDeps(invocation.globals),
      valueSource: async (out) =>
        (await import("../secrets/read_value.ts")).processValueSource(out),
    }),
};

export default secrets;
