/**
 * The tables of `docs/channels.md`, from the manifests: what each channel can do, and what it may reach.
 *
 * @module
 */

import { markdownTable } from "../../base/markdown_table.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import { ABILITIES } from "./capability_words.ts";
import { cell, withTable } from "../../base/with_table.ts";

/** Where the formatter breaks lines of text. */
const MAX_LINE_CHARS = 100;

/** A channel, and its page in the docs, where it has one: relative to `docs/`. */
export interface DocumentedChannel {
  descriptor: ChannelDescriptor;
  page?: string;
}

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
  const table = markdownTable([
    ["", ...channels.map(linkOf)],
    ["Section", ...channels.map(({ descriptor }) => `\`${descriptor.name}\``)],
    ...ABILITIES.map(({ title, isOf }) => [
      title,
      ...channels.map(({ descriptor }) => isOf(descriptor) ? "yes" : ""),
    ]),
  ]);
  const words = ABILITIES.map(({ title, words }) => `- **${title}**: ${words}`);
  return `${table}\n${wrapped(words)}\n`;
}

function linkOf({ descriptor: { displayName }, page }: DocumentedChannel): string {
  return page === undefined ? cell(displayName) : `[${cell(displayName)}](${page})`;
}

/** Items of a list as the formatter would have them. */
function wrapped(items: readonly string[]): string {
  return items.flatMap((item) => {
    const lines: string[] = [];
    let line = "";
    for (const word of item.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > MAX_LINE_CHARS) {
        lines.push(line);
        line = `  ${word}`;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    return [...lines, line];
  }).join("\n");
}

function permissionTable(channels: readonly DocumentedChannel[]): string {
  const rows = channels.map(({ descriptor }) => {
    const { name, permissions: { hosts, paths, variables }, dependencies, capabilities } =
      descriptor;
    return [
      `\`${name}\``,
      capabilities.includes("in_service") ? "the service itself" : "a process of its own",
      ...[hosts, paths, variables, dependencies].map(list),
    ];
  });
  return markdownTable([
    ["Section", "Runs in", "Hosts", "Paths", "Variables", "Packages"],
    ...rows,
  ]);
}

function list(values: readonly string[]): string {
  return values.length === 0 ? "none" : values.map((value) => `\`${cell(value)}\``).join(", ");
}
