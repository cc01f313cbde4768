/**
 * The tables of `docs/channels.md`, from the manifests: what each channel can do, and what it may reach.
 *
 * @module
 */

import { markdownTable } from "../../http/markdown_table.ts";
import type { ChannelCapability, ChannelDescriptor } from "../descriptor.ts";
import { cell, withTable } from "./with_table.ts";

/** A channel, and its page in the docs, where it has one: relative to `docs/`. */
export interface DocumentedChannel {
  descriptor: ChannelDescriptor;
  page?: string;
}

const COLUMNS: readonly (readonly [string, ChannelCapability])[] = [
  ["Streams", "streaming"],
  ["Reasoning", "reasoning"],
  ["Progress", "progress"],
  ["Files", "media"],
  ["Replies", "replies"],
  ["Safe to repeat", "idempotent_send"],
];

/** The page with both tables between their marks. */
export function withChannelTables(page: string, channels: readonly DocumentedChannel[]): string {
  const sorted = channels.toSorted((a, b) => a.descriptor.name < b.descriptor.name ? -1 : 1);
  return withTable(
    withTable(page, "capabilities", capabilityTable(sorted)),
    "permissions",
    permissionTable(sorted),
  );
}

function capabilityTable(channels: readonly DocumentedChannel[]): string {
  const rows = channels.map(({ descriptor, page }) => {
    const { name, displayName, capabilities, management, connector, senderVerified } = descriptor;
    return [
      page === undefined ? cell(displayName) : `[${cell(displayName)}](${page})`,
      `\`${name}\``,
      ...COLUMNS.map(([, capability]) => yes(capabilities.includes(capability))),
      yes(management?.multiInstance === true),
      yes(connector !== undefined),
      yes(senderVerified),
    ];
  });
  return markdownTable([
    ["Channel", "Section", ...COLUMNS.map(([title]) => title), "Accounts", "Connects", "Approves"],
    ...rows,
  ]);
}

function permissionTable(channels: readonly DocumentedChannel[]): string {
  const rows = channels.map(({ descriptor }) => {
    const { name, permissions: { hosts, paths, variables }, dependencies, capabilities } =
      descriptor;
    return [
      `\`${name}\``,
      capabilities.includes("in_service") ? "the service itself" : "a Worker of its own",
      ...[hosts, paths, variables, dependencies].map(list),
    ];
  });
  return markdownTable([
    ["Section", "Runs in", "Hosts", "Paths", "Variables", "Packages"],
    ...rows,
  ]);
}

function yes(holds: boolean): string {
  return holds ? "yes" : "";
}

function list(values: readonly string[]): string {
  return values.length === 0 ? "none" : values.map((value) => `\`${cell(value)}\``).join(", ");
}
