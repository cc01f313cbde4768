/**
 * Descriptions for the fields of a validator that stands elsewhere, so that the document speaks of
 * the very schema that checks requests.
 *
 * @module
 */

import type { z } from "zod";

/** What the document adds to a field. */
export interface FieldNotes {
  description: string;
  /** Further keywords of JSON Schema, for rules that zod does not translate. */
  [keyword: string]: unknown;
}

/** The same schema, with a note on each of its fields. A field without one does not compile. */
export function described<Shape extends z.ZodRawShape, Config extends z.core.$ZodObjectConfig>(
  schema: z.ZodObject<Shape, Config>,
  notes: { [Name in keyof Shape]: string | FieldNotes },
): z.ZodObject<Shape, Config> {
  const shape = Object.fromEntries(
    Object.entries(notes).map(([name, note]: [string, string | FieldNotes]) => [
      name,
      (schema.shape[name] as z.ZodType).meta(
        typeof note === "string" ? { description: note } : note,
      ),
    ]),
  );
  return schema.extend(shape) as unknown as z.ZodObject<Shape, Config>;
}
