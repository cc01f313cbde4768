/**
 * Models: providers over the AI SDK, fallback, retry, and the built-in `offline` model.
 *
 * Stands alone: the agent knows `port.ts` only; a provider's package is loaded when it is used.
 *
 * Invariants:
 * - A call yields events as they arrive; `finish` is last and comes once. It retries only before
 *   the first output.
 * - `hosts.ts` and `env.ts` open no connection: the authority computes permissions with them.
 * - A key goes only to the address that it was given for.
 * - In a Worker, aborting a fetch doesn't end a pending read (Deno 2.9): `provider_fetch.ts`
 *   cancels the reader.
 *
 * Runs in: gateway; `hosts.ts` and `env.ts` in the launcher; `doctor` and `onboard` ask servers;
 *   the child that tries a provider (`lib/operations/models/child.ts`).
 *
 * Entries:
 * - `body_reader.ts`: reads the body of an answer
 * - `choose_model.ts`: which model is used, and why
 * - `env.ts`: the environment variables of provider packages
 * - `find_local_servers.ts`: looks for model servers on this machine
 * - `hosts.ts`: the hosts of the configured providers
 * - `list_remote_models.ts`: asks a server for its models
 * - `offers.ts`: the providers that can be set up by name
 * - `port.ts`: what the agent needs of a model
 * - `provider_message.ts`: what a provider said about a failure
 * - `provider_spec.ts`: what a provider's section means
 * - `registry.ts`: the models of a configuration
 * - `retry_after.ts`: how long a provider asks to wait
 * - `try_model.ts`: asks a model for one short answer
 * - `try_offer.ts`: whether a provider that is being set up answers
 * - `tokens.ts`: estimates the tokens of a message
 *
 * @module
 */
