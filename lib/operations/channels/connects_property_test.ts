import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ConnectAnswer } from "../../channel/descriptor.ts";
import type { WorkerSource } from "../../channel_worker/worker_source.ts";
import { ManualClock } from "../../http/testing/manual_clock.ts";
import { CONNECT_LIMIT_MS, Connects, type ShownConnection } from "./connects.ts";
import { rounds } from "../../../tests/support/rounds.ts";

const SOURCE = { boot: { secrets: [] as string[] } } as unknown as WorkerSource;

const step = fc.oneof(
  fc.constantFrom("start", "poll", "cancel", "late", "fails").map((kind) => ({ kind })),
  fc.constantFrom<ConnectAnswer["state"]>("waiting", "connected", "failed", "cancelled")
    .map((state) => ({ kind: "answer", state })),
);

/** Everything that is under way has gone as far as it can. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("Connects: whatever comes when, an end is for ever, and nothing is written after it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const clock = new ManualClock();
      let open = 0;
      let applied = 0;
      let started = 0;
      /** What waits for the platform, and which connection asked. */
      const asked: (PromiseWithResolvers<ConnectAnswer> & { mine: number })[] = [];
      const connects = new Connects({
        clock,
        sourceOf: () => Promise.resolve(SOURCE),
        workers: {
          connector: () => {
            open++;
            let isOpen = true;
            return Promise.resolve({
              handle: (action) => {
                if (action === "cancel") return Promise.reject(new Error("gone"));
                asked.push({ ...Promise.withResolvers<ConnectAnswer>(), mine: started });
                return asked.at(-1)!.promise;
              },
              close() {
                if (isOpen) open--;
                isOpen = false;
              },
            });
          },
        },
        isSecret: () => true,
        apply: () => Promise.resolve(void applied++),
      });
      let over: ShownConnection | undefined;
      const answers: Promise<void>[] = [];
      const see = (shown: ShownConnection, mine: number) => {
        if (mine !== started || shown.state === "waiting") return;
        // The first end that anybody sees is the one that everybody sees.
        over ??= shown;
        assertEquals(shown, over);
      };
      for (const { kind, ...more } of steps) {
        const before = applied;
        const wasOver = over !== undefined;
        const counts = kind === "answer" && asked[0]?.mine === started && !wasOver;
        if (kind === "start" || kind === "poll" || kind === "cancel") {
          if (kind === "start" && (started === 0 || wasOver)) {
            started++;
            over = undefined;
          }
          const mine = started;
          answers.push(
            connects.answer({ name: "chat", action: kind, query: {}, by: "t" }).then(
              (shown) => started > 0 ? see(shown, mine) : undefined,
              ({ code }) => assert(["conflict", "not_found"].includes(code), code),
            ),
          );
        } else if (kind === "late") clock.advance(CONNECT_LIMIT_MS);
        else if (kind === "fails") asked.shift()?.reject(new Error("no network"));
        else {
          const { state } = more as { state: ConnectAnswer["state"] };
          asked.shift()?.resolve({ state, message: state, values: { server: "x" } });
        }
        await settle();
        if (!counts) assertEquals(applied, before, "something was written after the end");
        assert(open <= 2, `${open} connectors are open`);
        if (started > 0) {
          const shown = await Promise.race([
            connects.answer({ name: "chat", action: "poll", query: {}, by: "t" }),
            settle().then(() => undefined),
          ]);
          if (shown !== undefined) see(shown, started);
        }
      }
      assert(applied <= started);
      connects.close();
      for (const { resolve } of asked) resolve({ state: "connected", message: "late" });
      const atEnd = applied;
      clock.advance(CONNECT_LIMIT_MS);
      await Promise.all(answers);
      await settle();
      assertEquals([open, applied, clock.timers], [0, atEnd, 0]);
    }),
    { numRuns: rounds(150) },
  );
});
