/**
 * Fields of an operation as a path, a query or a command line gives them: as texts.
 *
 * @module
 */

import type { z } from "zod";

/**
 * A field from its texts, not checked yet: decimal digits are a number where one is expected, and names
 * of a list may stand in one text, with commas.
 */
export function fieldOfTexts(schema: z.ZodType, texts: readonly string[]): unknown {
  const { type, element } = innermost(schema).def as { type: string; element?: z.ZodType };
  if (type === "array") {
    const isNames = element!.def.type === "enum";
    const items = isNames ? texts.flatMap((text) => text.split(",")) : texts;
    return items.map((item) => fieldOfTexts(element!, [isNames ? item.trim() : item]));
  }
  const [text] = texts as [string];
  return type === "number" && /^\d{1,16}$/.test(text) ? Number(text) : text;
}

/** A field's schema without what makes it optional. */
export function innermost(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType === undefined ? schema : innermost(innerType);
}
