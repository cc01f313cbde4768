/**
 * What the section of every channel may hold beside the fields of its own contract.
 *
 * @module
 */

import type { ChannelDescriptor, SetupField } from "../descriptor.ts";

/** Flags that a section takes from `channels` where it does not set them. */
export const FLAG_FIELDS = ["sendProgress", "sendToolHints", "showReasoning"] as const;

/** By name. A contract may give one of them another default, never another kind. */
export const COMMON_FIELDS = {
  enabled: { kind: "bool", label: "On" },
  /** Absent: nobody. */
  allowFrom: { kind: "list", label: "Ids of senders who may write; * for all" },
  streaming: { kind: "bool", label: "Send answers piece by piece" },
  sendProgress: { kind: "bool", label: "Send progress" },
  sendToolHints: { kind: "bool", label: "Send tool breadcrumbs" },
  showReasoning: { kind: "bool", label: "Send reasoning" },
  sendMaxRetries: { kind: "int", min: 0, max: 100, label: "Attempts to deliver a message" },
  catchUpS: {
    kind: "int",
    min: 60,
    max: 2_592_000,
    label: "Seconds after which a message is too late to be answered",
  },
  pairing: {
    kind: "enum",
    choices: ["first", "on", "off"],
    label: "Give strangers a code with which you let them write",
  },
} as const satisfies Readonly<Record<string, SetupField>>;

/** Of what a channel itself says: those of `platform/locales/`. */
export const LANGUAGE_FIELD = {
  kind: "enum",
  choices: ["en", "de", "es", "zh"],
  default: "en",
  label: "Language of buttons and notes",
} as const satisfies SetupField;

/** Every field that a channel's section may hold, those of the contract last. */
export function sectionFields(
  { setup }: Pick<ChannelDescriptor, "setup">,
): Readonly<Record<string, SetupField>> {
  return { ...COMMON_FIELDS, ...setup.fields };
}

/** What a field is where nothing is set; undefined for what has no default. */
export function defaultOf(field: SetupField): unknown {
  switch (field.kind) {
    case "string":
      return field.default ?? "";
    case "secret":
      return "";
    case "bool":
      return field.default ?? false;
    case "list":
      return [...field.default ?? []];
    case "int":
    case "enum":
      return field.default;
  }
}
