/**
 * `service policy`: what the gate allows, and why.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import type { PolicyDeps } from "../policy/deps.ts";

/** Runs the command. */
export async function runPolicy(invocation: Invocation, deps: PolicyDeps): Promise<ExitCode> {
  const { subcommand = "show", args, options, globals: { json }, out } = invocation;
  switch (subcommand) {
    case "explain": {
      const { explainPolicy } = await import("../policy/explain.ts");
      const [tool, given] = args;
      const [channel, actor, session] = [
        text(options["channel"]) ?? "cli",
        text(options["actor"]),
        text(options["session"]),
      ];
      await explainPolicy(
        {
          tool: tool!,
          args: given!,
          context: {
            sessionKey: session ?? `${channel}:default`,
            turnId: "explain",
            callId: "explain",
            channel,
            actor: actor ?? `${channel}:${channel === "cli" ? "local" : "anonymous"}`,
            attended: options["unattended"] !== true,
            personHosts: (options["person-host"] as string[] | undefined ?? []).map((host) =>
              host.toLowerCase()
            ),
            toolUrls: [],
          },
          resolve: options["resolve"] === true,
          json,
        },
        out,
        deps,
      );
      return EXIT.done;
    }
    case "test": {
      const { runCases } = await import("../policy/run_cases.ts");
      return await runCases({ file: args[0], json }, out, deps);
    }
    default: {
      const { showPolicy } = await import("../policy/show.ts");
      await showPolicy(out, deps, json);
      return EXIT.done;
    }
  }
}

function text(value: string | boolean | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new ServiceError("usage", `${JSON.stringify(value)} is blank; expected a name`);
}

const policy: Command = {
  description:
    "Shows the rules that allow, ask about or deny the agent's actions, explains the decision for one " +
    "tool call, and runs the test cases in policy.test.json beside the configuration. A configuration " +
    "that fails one of them doesn't load. JSON holds the arguments of TOOL. Explaining starts " +
    "nothing, contacts nobody and leaves no audit record.",
  examples: [
    "service policy show",
    `service policy explain read_file '{"path":"notes.md"}'`,
    `service policy explain web_fetch '{"url":"https://example.com/"}' --person-host example.com`,
    `service policy explain exec '{"command":["npm","ci"],"hosts":["registry.npmjs.org"]}'`,
    `service policy explain write_file '{"path":"a.txt","content":"x"}' --unattended`,
    "service policy test",
  ],
  options: [],
  defaultSubcommand: "show",
  subcommands: [
    { name: "show", summary: "Print the active rules, in order" },
    {
      name: "explain",
      args: "TOOL JSON",
      summary: "Explain the decision for a tool call",
      options: [
        { name: "unattended", summary: "As in a turn with nobody there to approve" },
        { name: "channel", value: "NAME", summary: "Channel of the turn (cli)" },
        { name: "actor", value: "NAME", summary: "Who started the turn (cli:local)" },
        { name: "session", value: "KEY", summary: "Session of the turn (cli:default)" },
        {
          name: "person-host",
          value: "HOST",
          repeatable: true,
          summary: "Host named in the person's own message",
        },
        { name: "resolve", summary: "Look up the addresses of a URL's host" },
      ],
    },
    { name: "test", args: "[FILE]", summary: "Run the test cases of the policy" },
  ],
  async run(invocation) {
    const { homePaths } = await import("../home_paths.ts");
    const [{ readSecrets }, { SECRETS_KEY_VARIABLE }] = await Promise.all([
      import("../../lib/state/operator_state.ts"),
      import("../../lib/state/secret_key.ts"),
    ]);
    const paths = homePaths(invocation.globals);
    return await runPolicy(invocation, {
      paths,
      lastGood: invocation.globals.lastGood,
      env: (name) => Deno.env.get(name),
      secrets() {
        const { operatorDir: dir, keysDir } = paths;
        const secretsKey = Deno.env.get(SECRETS_KEY_VARIABLE);
        return readSecrets({ dir, keysDir, secretsKey }).list();
      },
      async findSandbox() {
        const { findConfinement } = await import("../../lib/executor/sandbox.ts");
        const { bwrap, reason } = await findConfinement();
        return { confined: bwrap !== undefined, reason };
      },
      async lookUp(host, config) {
        const { lookUpHost } = await import("../policy/look_up.ts");
        return await lookUpHost(host, { paths, workspace: config.agent.workspace });
      },
    });
  },
};

export default policy;
