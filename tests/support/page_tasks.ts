/**
 * What a page's main thread does, by processor time: unlike a clock on the wall it means the same on a
 * machine that does other things.
 *
 * @module
 */

import type { Page } from "playwright-core";

const CATEGORY = "disabled-by-default-devtools.timeline";

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds on a processor. */
  tdur?: number;
  args: { name?: string };
}

/** Runs `act` and gives the tasks that the page ran meanwhile, in milliseconds of processor time. */
export async function tasksDuring(page: Page, act: () => Promise<unknown>): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on(
    "Tracing.dataCollected",
    ({ value }) => events.push(...value as unknown as TraceEvent[]),
  );
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.start", {
    // Without the second, Chromium records what it does by default, too: ten times as much.
    traceConfig: { includedCategories: [CATEGORY], excludedCategories: ["*"] },
    transferMode: "ReportEvents",
  });
  await act();
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const mains = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(threadOf),
  );
  return events.filter((event) => event.name === "RunTask" && mains.has(threadOf(event)))
    .map(({ tdur = 0 }) => tdur / 1_000);
}
