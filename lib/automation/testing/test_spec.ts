import type { Automation } from "../../contract/automation.ts";

/** When the automations of these tests are created, milliseconds since 1970. */
export const START = Date.parse("2026-03-01T00:00:00Z");

/** An automation of each minute, changed as told. */
export function testSpec(change: Partial<Automation> = {}): Automation {
  return {
    name: "test",
    message: "What is new?",
    schedule: { every: 60 },
    missed: "once",
    tokenBudget: 10_000,
    maxSteps: 5,
    retries: 0,
    overlap: "skip",
    enabled: true,
    ...change,
  };
}
