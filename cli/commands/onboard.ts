/**
 * `service onboard`: a first configuration.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { processConfirm } from "../confirm.ts";
import type { ChannelDefaults } from "../onboard/add_channels.ts";
import { createDialogue, DialogueEndedError } from "../onboard/dialogue.ts";
import type { OnboardOptions } from "../onboard/onboard.ts";
import { jsonLine, type Output } from "../output.ts";
import { onStopSignals } from "../stop_signals.ts";

const command: Command = {
  description:
    "Sets up a model: asks for a provider and its key, lists its models and sends one short test " +
    "message. The key is kept encrypted, as service secrets set does. Writes only what differs " +
    "from the defaults, and shows each change to a configuration that is there. With --yes it asks " +
    "nothing: it takes what the options name, else the first key in the environment or model " +
    "server on this machine.",
  examples: [
    "service onboard",
    "service onboard --yes",
    "service onboard --yes --provider openrouter --key-env OPENROUTER_API_KEY",
    "pass show openai | service onboard --yes --provider openai --key-stdin",
    "service onboard --yes --provider ollama --model qwen3",
    "service onboard --yes --provider gpu --base-url http://192.168.1.5:8000/v1",
  ],
  options: [
    { name: "yes", alias: "y", summary: "Ask nothing" },
    {
      name: "provider",
      value: "NAME",
      summary: "openai, anthropic, openrouter, ollama, or any name with --base-url",
    },
    { name: "base-url", value: "URL", summary: "Address of an OpenAI-style server" },
    { name: "key-env", value: "VARIABLE", summary: "Environment variable to copy the key from" },
    { name: "key-stdin", summary: "Read the key from standard input" },
    { name: "model", value: "ID", summary: "ID of the model at the provider" },
    { name: "workspace", value: "FOLDER", summary: "Folder that the agent works in" },
    { name: "no-test", summary: "Don't send a test message" },
    { name: "channels", summary: "Also write every setting of every channel, as defaults" },
    { name: "force", summary: "Replace the configuration; a copy is kept" },
  ],
  async run({ options, globals, out }): Promise<ExitCode> {
    const terminal = processConfirm(out);
    const asks = options["yes"] !== true;
    if (asks && !terminal.isTerminal) {
      throw new ServiceError(
        "usage",
        "service onboard asks questions, and there is no terminal to ask at: add --yes",
        { param: "yes" },
      );
    }
    const [
      { homePaths },
      { ModelTestError, onboard },
      { printOnboarded },
      { operatorDeps },
      { readHidden },
    ] = await Promise.all([
      import("../home_paths.ts"),
      import("../onboard/onboard.ts"),
      import("../onboard/print.ts"),
      import("../operator/with_state.ts"),
      import("../operator/read_hidden.ts"),
    ]);
    let isWriting = false;
    using _signals = onStopSignals(["SIGINT"], () => {
      // What was begun is finished: that takes no time.
      if (isWriting) return;
      out.note();
      out.note("Nothing was written");
      Deno.exit(EXIT.interrupted);
    });
    const paths = homePaths(globals);
    try {
      const done = await onboard({
        paths,
        env: (name) => Deno.env.get(name),
        fetch,
        out,
        operator: operatorDeps(globals),
        given: await givenBy(options, out),
        channels: options["channels"] === true ? await channelDefaults() : {},
        force: options["force"] === true,
        test: options["no-test"] !== true,
        dialogue: asks
          ? createDialogue(out, {
            ...terminal,
            readHidden: (prompt) => readHidden(prompt, out, { maxChars: MAX_KEY_CHARS }),
          })
          : undefined,
        onWrite: () => isWriting = true,
      });
      printOnboarded(out, done, globals.json);
      if (done.outcome !== "kept" && await isServed(paths)) {
        out.note(
          "The running service still uses the old settings. Apply these with: service restart",
        );
      }
      return EXIT.done;
    } catch (error) {
      if (error instanceof ModelTestError) {
        const { message } = error;
        const next = "Nothing was written. To write it anyway, add --no-test";
        if (globals.json) out.note(jsonLine({ error: { code: "provider_error", message, next } }));
        else {
          out.note({ text: "error:", style: "red" }, ` ${message}`);
          out.note(`  ${next}`);
        }
        return EXIT.provider;
      }
      if (!(error instanceof DialogueEndedError)) throw error;
      out.note("Nothing was written");
      return EXIT.interrupted;
    }
  },
};

const MAX_KEY_CHARS = 4_096;

/** Whether a service runs in the home. */
async function isServed({ socket }: Pick<HomePaths, "socket">): Promise<boolean> {
  const { connectLocal, endpointAt } = await import("../../lib/local/endpoint.ts");
  const client = await connectLocal(endpointAt(socket));
  client?.close();
  return client !== undefined;
}

/** What the options name. Throws `usage` for what can't be. */
async function givenBy(
  options: Invocation["options"],
  out: Output,
): Promise<NonNullable<OnboardOptions["given"]>> {
  const { provider, model: id, workspace } = options as Record<string, string | undefined>;
  const baseUrl = options["base-url"] as string | undefined;
  const variable = options["key-env"] as string | undefined;
  if (variable !== undefined && options["key-stdin"] === true) {
    throw usage("--key-stdin", "--key-env and --key-stdin both name the key; give one of them");
  }
  const given = { id, workspace, key: await keyOf(variable, options["key-stdin"] === true, out) };
  if (provider === undefined && baseUrl === undefined) return given;

  const { isHttpUrl, KNOWN_NAMES, offerAt, offerOf } = await import(
    "../../lib/model/offers.ts"
  );
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    throw usage(
      "--base-url",
      "--base-url: expected an address that starts with http:// or https://",
    );
  }
  if (provider === undefined) return { ...given, offer: offerAt(baseUrl!) };
  if (!/^[a-z][a-z0-9_-]*$/.test(provider)) {
    throw usage(
      "--provider",
      "--provider: expected a name of a-z, 0-9, _ and -; an address goes with --base-url",
    );
  }
  const offer = offerOf(provider, baseUrl);
  if (offer !== undefined) return { ...given, offer };
  const { nearest } = await import("../../lib/base/nearest.ts");
  const near = nearest(provider, KNOWN_NAMES);
  throw usage(
    "--provider",
    `Unknown provider "${provider}"; ` +
      (near === undefined ? "add its address with --base-url URL" : `did you mean ${near}?`),
  );
}

/** The key that the command line leads to. */
async function keyOf(
  variable: string | undefined,
  fromStdin: boolean,
  out: Output,
): Promise<string | undefined> {
  if (variable !== undefined) {
    // What stands there may be the key itself, so it isn't repeated.
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
      throw usage("--key-env", "--key-env: expected the name of an environment variable");
    }
    const key = Deno.env.get(variable)?.trim();
    if (key) return key;
    throw usage("--key-env", `--key-env: ${variable} isn't set in this shell`);
  }
  if (!fromStdin) return undefined;
  const { processValueSource, readValue } = await import("../secrets/read_value.ts");
  const key = (await readValue("the key", processValueSource(out)))?.trim();
  if (key) return key;
  throw usage("--key-stdin", "--key-stdin: standard input is empty; expected the key");
}

function usage(param: string, message: string): ServiceError {
  return new ServiceError("usage", message, { param });
}

/** What can be set of each channel; one that is broken is left out, and `service doctor` names it. */
async function channelDefaults(): Promise<ChannelDefaults> {
  const [{ CHANNELS }, { openRegistry }, { defaultSections }] = await Promise.all([
    import("../../channels/mod.ts"),
    import("../../lib/registry/open_registry.ts"),
    import("../../lib/registry/channel_defaults.ts"),
  ]);
  return defaultSections(await openRegistry(CHANNELS));
}

export default command;
