/**
 * `service plugins info`: what a channel is, what can be set of it, and what is set.
 *
 * @module
 */

import type { ChannelListing } from "../../lib/operations/channels/channel_listing.ts";
import { channelToWire } from "../../lib/operations/channels/channel_schemas.ts";
import { localizedListing } from "../../lib/operations/channels/localized_listing.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import { ABILITIES } from "../../lib/channel/docs/capability_words.ts";
import type { ChannelDescriptor, SetupField } from "../../lib/channel/descriptor.ts";
import { missingRequirements } from "../../lib/channel/setup/missing_requirements.ts";
import type { Output } from "../output.ts";
import { printParagraph } from "../print_paragraph.ts";
import { printTable } from "../table.ts";
import { API, type PluginsDeps } from "./deps.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { detailOf, stateOf } from "./list.ts";
import { listingOf, readListings } from "./read_listings.ts";

/** Prints it. Throws `not_found`, naming the channels that there are. */
export async function info(
  out: Output,
  deps: PluginsDeps,
  { name, json, locale }: {
    name: string;
    json: boolean;
    /** A language; by default that of the environment, and English for programs. */
    locale?: string;
  },
): Promise<void> {
  if (name === API) {
    throw new ServiceError("not_found", "The HTTP API is no channel; see service config get api");
  }
  const read = await readListings(deps);
  const wanted = locale ?? (json ? undefined : languageOf(deps.env));
  const english = listingOf(read, name);
  const listing = wanted === undefined
    ? english
    : await localizedListing(english, read.registry, wanted);
  const descriptor = read.registry.usable.get(name)?.descriptor;
  if (json) {
    out.json({ ...channelToWire(listing), ...descriptor && { descriptor } });
    return;
  }
  out.line({ text: listing.displayName, style: "bold" }, ` (${listing.name}): ${stateOf(listing)}`);
  const detail = detailOf(listing);
  if (detail !== "") out.line(detail);
  if (listing.summary !== undefined) {
    printParagraph(out, { text: "" }, visibleLine(listing.summary));
  }
  if (descriptor === undefined) return;
  printFields(out, listing, descriptor);
  printInstances(out, listing);
  out.line("");
  for (const [what, items] of facts(descriptor)) {
    printParagraph(out, { text: `${what}: ` }, items.length === 0 ? "none" : items.join(", "));
  }
  printSteps(out, listing);
  if (listing.localeProblem !== undefined) out.note(`warning: ${listing.localeProblem}`);
  for (const line of nextSteps(listing, descriptor)) out.note(line);
}

/** The language of messages, as POSIX has it. */
function languageOf(env: PluginsDeps["env"]): string | undefined {
  return ["LC_ALL", "LC_MESSAGES", "LANG"].map(env).find((value) => (value ?? "") !== "");
}

function printSteps(out: Output, { steps }: ChannelListing): void {
  if (steps.length === 0) return;
  out.line("");
  for (const [at, step] of steps.entries()) {
    printParagraph(out, { text: `${at + 1}. ` }, visibleLine(step), { indent: 3 });
  }
}

function printFields(out: Output, listing: ChannelListing, { setup }: ChannelDescriptor): void {
  out.line("");
  printTable(
    out,
    ["FIELD", "KIND", "NEEDED", "VALUE", "WHAT"],
    Object.entries(listing.fields).map(([name, field]) => [
      name,
      kindOf(field),
      neededBy(name, setup.required),
      valueOf(name, field, listing),
      field.label ?? "",
    ]),
    { wraps: true },
  );
}

function printInstances(out: Output, { multiInstance, instances }: ChannelListing): void {
  if (!multiInstance || instances.length === 0) return;
  out.line("");
  printTable(
    out,
    ["INSTANCE", "RUNS AS", "STATE", "DETAIL"],
    instances.map(({ id, runtimeName, enabled, configured, problem, missing }) => [
      id,
      runtimeName,
      !enabled ? "off" : configured ? "on" : "failed",
      problem ?? (missing.length === 0 ? "" : `not set: ${missing.join("; ")}`),
    ]),
    { wraps: true },
  );
}

function kindOf(field: SetupField): string {
  if (field.kind === "enum") return field.choices.join("|");
  if (field.kind !== "int" || (field.min ?? field.max) === undefined) return field.kind;
  return `int ${field.min ?? ""}..${field.max ?? ""}`;
}

function neededBy(name: string, required: ChannelDescriptor["setup"]["required"]): string {
  const requirement = required.find(({ fields }) => fields.includes(name));
  if (requirement === undefined) return "";
  const others = requirement.fields.filter((each) => each !== name);
  return others.length === 0 ? "yes" : `or ${others.join(", or ")}`;
}

/** Its value; of a secret, whether there is one. */
function valueOf(
  name: string,
  { kind }: SetupField,
  { configValues, configuredFields }: ChannelListing,
): string {
  if (kind === "secret") return configuredFields.includes(name) ? "(set)" : "";
  const value = configValues[name];
  if (value === undefined || value === "") return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function facts(descriptor: ChannelDescriptor): [string, readonly string[]][] {
  const { dependencies, permissions: { hosts, paths, variables } } = descriptor;
  const named = (holds: boolean) =>
    ABILITIES.filter(({ isOf }) => isOf(descriptor) === holds).map(({ title }) =>
      title.toLowerCase().replace(", ", " and ")
    );
  return [
    ["Packages", dependencies],
    ["Can", named(true)],
    ["Cannot", named(false)],
    ["Reaches", hosts],
    ["Reads", paths],
    ["Variables", variables],
    ["Sender ids are proven", [descriptor.senderVerified ? "yes" : "no"]],
    ["Languages", ["en", ...descriptor.locales ?? []]],
  ];
}

/** How to go on, for a channel that is not on. */
function nextSteps(
  { name, enabled, configured, configValues, configuredFields, instances }: ChannelListing,
  { setup }: ChannelDescriptor,
): string[] {
  if (enabled && configured) return [];
  if (configured) return [`Switch it on: service plugins enable ${name}`];
  if (instances.length > 1) return [];
  const values = {
    ...configValues,
    ...Object.fromEntries(configuredFields.map((field) => [field, true])),
  };
  return setup.required.filter((each) => missingRequirements(values, [each]).length > 0)
    .map(({ fields: [field] }) => setCommand(name, field!, setup.fields[field!]));
}

/** How a field is set at the command line. */
export function setCommand(name: string, field: string, spec: SetupField | undefined): string {
  const key = `channels.${name}.${field}`;
  if (spec?.kind !== "secret") return `Set it: service config set ${key} VALUE`;
  const variable = `${name}_${field}`.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
  return `Set it: service secrets set ${variable}, then service config set ${key} ` +
    `'\${secret:${variable}}'`;
}
