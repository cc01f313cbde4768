/**
 * The configuration that a runtime is given.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { Section } from "../management.ts";
import { type ChannelFlags, withChannelFlags } from "../with_channel_flags.ts";
import { missingRequirements } from "./missing_requirements.ts";
import { readSection } from "./read_section.ts";

/** Every field of the contract and of every channel, in camelCase. */
export type ResolvedConfig = Record<string, unknown> & ChannelFlags & {
  allowFrom: string[];
  streaming: boolean;
};

/**
 * A section whose references are replaced, with defaults and flags. Throws `config_invalid`, which names
 * everything that is wrong or missing, the first as `param`.
 */
export function resolvedConfig(
  section: Section,
  descriptor: Pick<ChannelDescriptor, "name" | "setup" | "defaultActivation">,
  flags: ChannelFlags,
): ResolvedConfig {
  const { values, problems } = readSection(section, descriptor);
  const missing = missingRequirements(values, descriptor.setup.required);
  const wrong = [
    ...problems.map(({ message }) => message),
    ...missing.map((one) => `${one} is not set`),
  ];
  if (wrong.length === 0) return withChannelFlags(values, flags) as ResolvedConfig;
  const field = problems[0]?.field ?? missing[0]!.split(",")[0];
  throw new ServiceError(
    "config_invalid",
    `Cannot use channels.${descriptor.name}: ${wrong.join("; ")}`,
    { param: `channels.${descriptor.name}.${field}` },
  );
}
