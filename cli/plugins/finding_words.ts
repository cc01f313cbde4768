import type { SetupFinding } from "../../lib/channel/descriptor.ts";

/** What is found, with the field that it is about where its words do not say so. */
export function findingWords({ field, message }: SetupFinding): string {
  return field === undefined || message.includes(field) ? message : `${field}: ${message}`;
}
