/**
 * The tables of frames and envelopes in `docs/websocket.md`, and their JSON Schema, from the schemas that
 * the wire is made and checked with.
 *
 * @module
 */

import { z } from "zod";
import { markdownTable } from "../../base/markdown_table.ts";
import { cell, withTable } from "../../base/with_table.ts";
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
    return [`\`${name}\``, fields.join(", ") || "none", schema.description ?? ""].map(cell);
  });
  return markdownTable([[`\`${kind}\``, "Fields", "Meaning"], ...rows]);
}
