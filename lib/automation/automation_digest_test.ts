import { assertEquals, assertNotEquals } from "@std/assert";
import { automationDigest } from "./automation_digest.ts";
import type { Automation } from "../contract/automation.ts";

const SPEC: Automation = {
  name: "news",
  message: "What is new?",
  schedule: { cron: "0 8 * * *", timeZone: "Europe/Berlin" },
  missed: "once",
  tokenBudget: 10_000,
  maxSteps: 5,
  retries: 0,
  overlap: "skip",
  enabled: false,
};

Deno.test("automationDigest() changes with all that a run does (G20)", () => {
  const digest = automationDigest(SPEC);
  const changes: Partial<Automation>[] = [
    { name: "old" },
    { message: "What is new? " },
    { schedule: { cron: "0 8 * * *", timeZone: "Europe/Paris" } },
    { schedule: { every: 60 } },
    { missed: "all" },
    { tokenBudget: 10_001 },
    { maxSteps: 6 },
    { retries: 1 },
    { overlap: "queue" },
    { delivery: { when: "always", channel: "telegram", chatId: "1" } },
  ];
  for (const change of changes) {
    assertNotEquals(automationDigest({ ...SPEC, ...change }), digest, JSON.stringify(change));
  }
});

Deno.test("automationDigest() stays when it is switched on, or its keys stand in another order", () => {
  const turned = Object.fromEntries(Object.entries(SPEC).reverse()) as Automation;
  assertEquals(automationDigest({ ...turned, enabled: true }), automationDigest(SPEC));
  assertEquals(automationDigest({ ...SPEC, delivery: undefined }), automationDigest(SPEC));
});
