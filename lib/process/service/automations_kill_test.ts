/**
 * That a slot runs once, or is counted, whenever the process is killed (W4). The file is also the
 * program that is killed: a service whose clock runs a thousand times as fast, so that slots of each
 * minute come every 60 ms.
 */
import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { answering, fails, says } from "../../agent/testing/scripted_model.ts";
import { testAgent } from "../../agent/testing/test_agent.ts";
import { configSchema } from "../../config/schema.ts";
import { openJournal } from "../../journal/open.ts";
import { assertRows } from "../../journal/testing/assert_rows.ts";
import { withFolder } from "../../journal/testing/steps.ts";
import { createAutomations } from "../../automation/automations.ts";
import { createOutbox } from "../../delivery/outbox.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { lockedFlags } from "../../packages/locked_packages.ts";

const SPEED = 1_000;
const IDS = ["aut_steady", "aut_queued", "aut_failing"] as const;
const LAST = Number.MAX_SAFE_INTEGER;

/** Shows in the test's output what went wrong in the program, and ends that. */
function fail(message: string, fields?: unknown): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${message} ${JSON.stringify(fields)}\n`));
  Deno.exit(1);
}

/** Runs automations over a file until it is killed; `bootMs` is where its clock starts. */
async function runUntilKilled(path: string, startMs: number): Promise<void> {
  const began = performance.now();
  const now = () => Math.floor(startMs + (performance.now() - began) * SPEED);
  const journal = openJournal({ path, now });
  const { resume } = await journal.recover();
  let asked = 0;
  const { turns } = testAgent({
    journal,
    idPrefix: `${startMs}-`,
    model: answering((request) => {
      const text = JSON.stringify(request.messages.at(-1));
      return (text.includes("fail") ? fails("provider_error") : says(`answer ${++asked}`))(request);
    }),
  });
  turns.recovered(resume);
  let next = 0;
  const automations = createAutomations({
    store: journal.automations,
    turns,
    outbox: createOutbox({ journal, isEnabled: () => true }),
    isEnabled: () => true,
    config: () => configSchema.parse({}),
    clock: {
      now,
      after(ms, run) {
        const timer = setTimeout(run, ms / SPEED);
        return () => clearTimeout(timer);
      },
    },
    scrub: (value) => value,
    log: { debug() {}, info() {}, warning() {}, error: fail },
    randomId: () => IDS[next++]!,
  });
  if ((await automations.list({ after: "", limit: 9 })).length === 0) {
    const every = { schedule: { every: 60 }, delivery: { channel: "a", chatId: "1" } };
    await automations.create({ ...every, name: "steady", message: "go", missed: "all" });
    await automations.create({ ...every, name: "queued", message: "go", overlap: "queue" });
    await automations.create({ ...every, name: "failing", message: "fail", retries: 1 });
  }
  automations.start();
  Deno.stdout.writeSync(new TextEncoder().encode("up\n"));
  await new Promise<void>((resolve) => setTimeout(resolve, 60_000));
}

async function endedRuns(path: string): Promise<number> {
  const journal = openJournal({ path });
  const runs = await Promise.all(IDS.map((id) => journal.automations.history(id, LAST, 100_000)));
  await journal.close();
  return runs.flat().filter(({ state }) => state === "done" || state === "failed").length;
}

Deno.test("createAutomations() runs each slot once through kill -9 at any instant (W4)", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    const startMs = Date.parse("2026-03-01T00:00:00Z");
    const BOOTS = rounds(10, 4);
    // A slow machine needs more of them until enough has come to an end.
    for (let boot = 0; boot < BOOTS || (boot < 40 && await endedRuns(path) <= 10); boot++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--cached-only",
          ...lockedFlags(),
          "--no-check",
          import.meta.url,
          "run-until-killed",
          path,
          String(startMs + boot * 15 * 60_000),
        ],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      // Whatever it is doing then: starting, claiming, asking, delivering, settling.
      const reader = child.stdout.getReader();
      await reader.read();
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
      child.kill("SIGKILL");
      assertEquals((await child.status).signal, "SIGKILL", "it ended before it was killed");
      await reader.cancel();
    }

    const journal = openJournal({ path });
    let runs = 0;
    for (const id of IDS) {
      const session = journal.session(`automation:${id}`)!;
      const turns = new Map(journal.turns(session.id, 0, 100_000).map((turn) => [turn.id, turn]));
      const history = await journal.automations.history(id, LAST, 100_000);
      const slots = history.map(({ slotAt }) => slotAt);
      assertEquals(new Set(slots).size, slots.length, "a slot has two runs");
      let attempts = 0;
      for (const run of history) {
        attempts += run.attempts;
        if (run.state !== "done" && run.state !== "failed") continue;
        runs += 1;
        const turn = turns.get(run.turnId!);
        assert(turn !== undefined && turn.endedAt !== undefined, "a run that ended has no turn");
        assertEquals(turn.status === "done", run.state === "done");
        // Only what was written to fail has a second attempt; the others fail when two crashes hit one turn.
        if (run.state !== "failed") continue;
        if (id === "aut_failing") assertEquals(run.attempts, 2);
        else assertStringIncludes(run.error!, "stopped unexpectedly in 2 runs");
      }
      // No attempt has two turns; one that was begun and cut off may have none yet.
      assert(turns.size <= attempts, `${turns.size} turns for ${attempts} attempts`);
      assert(attempts - turns.size <= 1, `${turns.size} turns for ${attempts} attempts`);
      const { missed, overlapped, cursor, createdAt } = (await journal.automations.find(id))!;
      const counted = history.length + missed + overlapped;
      assertEquals(counted, Math.floor((cursor - createdAt) / 60_000), `slots of ${id}`);
    }
    assertGreater(runs, 10);
    const ids = journal.outbox(0, 100_000).map(({ id }) => id);
    assertEquals(new Set(ids).size, ids.length);
    await journal.close();
    assertRows(path);
  }));

if (Deno.args[0] === "run-until-killed") {
  await runUntilKilled(Deno.args[1]!, Number(Deno.args[2]));
}
