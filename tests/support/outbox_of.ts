/**
 * What a person sees of deliveries: `service outbox list --json`, `service channels status --json`.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { OperationResult } from "../../lib/operations/operations.ts";
import type { TestHome } from "./home.ts";

/** A message of the outbox, and how an instance is, as commands print them. */
export type OutboxRow = OperationResult<"outbox.get">;
export type ChannelStatus = OperationResult<"channels.status">["channels"][number];

/** Messages in these states, all of them. */
export async function outboxOf(
  home: TestHome,
  states: readonly OutboxRow["state"][],
): Promise<OutboxRow[]> {
  const rows: OutboxRow[] = [];
  for (;;) {
    const args = states.flatMap((state) => ["--state", state]);
    if (rows.length > 0) args.push("--after", String(rows.at(-1)!.id));
    const page = linesOf<OutboxRow>(
      await home.run(["outbox", "list", "--json", "--limit", "1000", ...args]),
    );
    rows.push(...page);
    if (page.length < 1_000) return rows;
  }
}

/** How each instance is, by its runtime name. */
export async function channelStatuses(home: TestHome): Promise<Map<string, ChannelStatus>> {
  const all = linesOf<ChannelStatus>(await home.run(["channels", "status", "--json"]));
  return new Map(all.map((each) => [each.runtime_name, each]));
}

/** Turns by session. */
export async function turnsOf(home: TestHome): Promise<Map<string, number>> {
  const all = linesOf<{ key: string; turns: number }>(
    await home.run(["sessions", "list", "--json", "--limit", "100"]),
  );
  return new Map(all.map(({ key, turns }) => [key, turns]));
}

function linesOf<T>({ code, stdout, stderr }: Awaited<ReturnType<TestHome["run"]>>): T[] {
  assertEquals(code, 0, stderr);
  return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}
