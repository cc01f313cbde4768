/**
 * The tables of frames and envelopes in `docs/websocket.md`, and their JSON Schema, from the schemas that
 * the wire is made and checked with.
 *
 * @module
 */

import { z } from "zod";
import { clientEnvelope, ENVELOPES } from "./envelopes.ts";
import { FRAMES, serverFrame } from "./frames.ts";

/** The text of `docs/websocket.schema.json`: one definition for what each side says. */
export function wireJsonSchemaText(): string {
  const options = { target: "draft-2020-12", io: "input" } as const;
  const definition = (schema: z.ZodType) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, options);
    return rest;
  };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Wire protocol of the service's WebSocket port",
    $defs: {
      server_frame: definition(serverFrame),
      client_envelope: definition(clientEnvelope),
    },
  };
  return JSON.stringify(schema, null, 2) + "\n";
}

/** The page with both tables between their marks. Throws when marks are missing. */
export function withWireTables(page: string): string {
  return withTable(
    withTable(page, "frames", wireTable("event", FRAMES)),
    "envelopes",
    wireTable("type", ENVELOPES),
  );
}

/** A row for each kind: its name, its fields with what is special about them, what it means. */
export function wireTable(
  kind: "event" | "type",
  schemas: Readonly<Record<string, z.ZodObject>>,
): string {
  const rows = Object.entries(schemas).map(([name, schema]) => {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>)
      .filter(([field]) => field !== kind)
      .map(([field, type]) => {
        const note = type.meta()?.description;
        const isOptional = type.safeParse(undefined).success;
        return `\`${field}\`${isOptional ? "?" : ""}${note === undefined ? "" : ` (${note})`}`;
      });
    return [`\`${name}\``, fields.join(", ") || "none", schema.description ?? ""];
  });
  return markdownTable([[`\`${kind}\``, "Fields", "Meaning"], ...rows]);
}

function withTable(page: string, name: string, table: string): string {
  const begin = `<!-- ${name}: written by \`deno task generate\` -->\n`;
  const end = `\n<!-- end of ${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) {
    throw new Error(`docs/websocket.md cannot be written: it has no line "${begin.trim()}"`);
  }
  return `${page.slice(0, from)}${begin}\n${table}${page.slice(to)}`;
}

function markdownTable([head, ...rows]: string[][]): string {
  const cells = [head!, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`;
  const [first, ...others] = cells;
  return line(first!) + line(widths.map((width) => "-".repeat(width))) + others.map(line).join("");
}
