/**
 * What checks and connectors of channels come to, checked: they are the words of a package.
 *
 * @module
 */

import { z } from "zod";
import type { FeatureMetadata } from "../channel/base_channel.ts";
import type { ConnectAnswer, SetupFinding } from "../channel/descriptor.ts";

const words = z.string().max(1_000);

const findings = z.array(z.object({
  level: z.enum(["error", "warning"]),
  field: z.string().max(100).optional(),
  message: words,
})).max(50);

const connectAnswer = z.object({
  state: z.enum(["waiting", "connected", "failed", "cancelled"]),
  message: words,
  show: z.object({
    code: words.optional(),
    qr: z.string().max(4_000).optional(),
    url: z.string().max(4_000).optional(),
  }).optional(),
  asks: z.string().max(200).optional(),
  values: z.record(z.string().max(100), z.unknown()).optional(),
});

const metadata = z.object({
  name: z.string().max(200).optional(),
  displayName: z.string().max(200).optional(),
  avatarUrl: z.string().max(4_000).optional(),
}).optional();

/** Throws an error that says what is wrong with what came. */
export const setupResults = {
  findings: (value: unknown): SetupFinding[] => read("findings", findings, value),
  connectAnswer: (value: unknown): ConnectAnswer => read("an answer", connectAnswer, value),
  metadata: (value: unknown): FeatureMetadata | undefined => read("metadata", metadata, value),
};

function read<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path, message } = error.issues[0]!;
  throw new Error(`its ${path.map(String).join(".") || what} is wrong: ${message}`);
}
