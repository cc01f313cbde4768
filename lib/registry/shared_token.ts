/**
 * Two instances of a channel with one token, or with one account, are one bot that hears everything twice,
 * and answers it twice.
 *
 * @module
 */

import type { ChannelInstance } from "../channel/management/instances_of.ts";
import { readSection } from "../channel/setup/read_section.ts";
import type { UsableChannel } from "./channel_registry.ts";

/** Of secrets, those that say by themselves which account it is; a password may be that of several. */
const TOKEN = /token$/i;

/**
 * What is wrong with an instance that has the token of one before it, at the same server; undefined where
 * nothing is. The first one goes on, as with names.
 */
export function sharedTokenProblem(
  { descriptor }: UsableChannel,
  instance: ChannelInstance,
  before: readonly ChannelInstance[],
): string | undefined {
  const { fields, required } = descriptor.setup;
  const tokens = Object.keys(fields).filter((name) =>
    (fields[name]!.kind === "secret" && TOKEN.test(name)) ||
    name === descriptor.management?.identity
  );
  const places = required.flatMap((each) => each.fields)
    .filter((name) => fields[name]?.kind === "string");
  const valuesOf = ({ section }: ChannelInstance) => readSection(section, descriptor).values;
  const own = valuesOf(instance);
  for (const other of before) {
    if (!instance.enabled || !other.enabled) continue;
    const values = valuesOf(other);
    if (places.some((name) => own[name] !== values[name])) continue;
    const token = tokens.find((name) => own[name] !== "" && own[name] === values[name]);
    if (token === undefined) continue;
    return `Cannot use ${instance.runtimeName}: its ${token} is that of ${other.runtimeName}, and both ` +
      "would answer everything; give it one of its own, or switch one of them off";
  }
  return undefined;
}
