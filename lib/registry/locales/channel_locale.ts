/**
 * What a channel is called in another language than English: `locales/<language>.json` of its folder.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import type { ChannelDescriptor } from "../../channel/descriptor.ts";

const text = z.string().trim().min(1).max(2_000);

const channelLocale = z.strictObject({
  /** What the language is called in itself. */
  language: text,
  displayName: text.optional(),
  /** By the names of the contract's fields. */
  fields: z.record(z.string(), z.strictObject({ label: text })),
  /** What it is and what it takes, in a line. */
  summary: text.max(200).optional(),
  /** How it is set up, in short and in their order. */
  steps: z.array(text).min(1),
  /** What the runtime says on the platform, beside what all platforms say. */
  words: z.record(z.string(), text).default({}),
});

export type ChannelLocale = z.infer<typeof channelLocale>;

/** A checked copy. Throws `config_invalid`: the message says in which file what has to be changed. */
export function checkLocale(
  value: unknown,
  { folder, tag, setup }: { folder: string; tag: string } & Pick<ChannelDescriptor, "setup">,
): ChannelLocale {
  const wrong = (what: string, param: string) =>
    new ServiceError(
      "config_invalid",
      `Cannot use channels/${folder}/locales/${tag}.json: ${what}`,
      { param },
    );
  const parsed = channelLocale.safeParse(value);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const name = path.map(String).join(".");
    throw wrong(`${name === "" ? "the file" : name} is wrong: ${message}`, name);
  }
  const { fields } = parsed.data;
  const known = Object.keys(setup.fields);
  const strange = Object.keys(fields).find((name) => !known.includes(name));
  if (strange !== undefined) {
    throw wrong(`fields.${strange} is no field of the manifest's setup`, `fields.${strange}`);
  }
  const missing = known.find((name) => !Object.hasOwn(fields, name));
  if (missing !== undefined) throw wrong(`fields.${missing} has no label`, `fields.${missing}`);
  return parsed.data;
}
