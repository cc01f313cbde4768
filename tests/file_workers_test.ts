/** The processes of a turn's file actions, from outside: how many there are, and that none is left. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Behaviour } from "./fakes/model_server.ts";
import { needs } from "./support/needs.ts";
import { until } from "./support/process_facts.ts";
import { shareService } from "./support/shared_service.ts";

const STEPS = 10;
const READS_A_STEP = 10;

const shared = shareService((baseUrl) => ({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl } },
}));

function workspace(): string {
  return `${shared.home.dir}/home/workspace`;
}

/** Its workers, by their numbers out here. */
function workers(): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      const [program, ...args] = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0");
      const isChild = program!.endsWith("deno") && args.join(" ").includes("file_tools");
      return isChild && args.includes(`--allow-read=${workspace()}`);
    } catch {
      // It has ended meanwhile, or is a thing of another kind.
      return false;
    }
  });
}

async function ask(session_id: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch(`${shared.service.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ session_id, messages: [{ role: "user", content: "read" }] }),
    signal,
  });
  assertEquals(response.status, 200);
  return (await response.json()).choices[0].message.content;
}

const read = (line: number) => ({
  tool: "read_file",
  args: { path: "a.txt", offset: line, limit: 1 },
});

async function fill(): Promise<void> {
  const lines = Array.from({ length: STEPS * READS_A_STEP }, (_, index) => `line ${index + 1}\n`);
  await Deno.mkdir(workspace(), { recursive: true });
  await Deno.writeTextFile(`${workspace()}/a.txt`, lines.join(""));
}

Deno.test(
  needs("a hundred reads of a turn have one process, and it ends with the turn", "bubblewrap"),
  async () => {
    await fill();
    const seen = new Set<number>();
    let step = 0;
    await using model = shared.startModel((): Behaviour => {
      if (step > 0) assertEquals(workers().length, 1);
      for (const pid of workers()) seen.add(pid);
      if (step++ === STEPS) return { text: "done" };
      const first = (step - 1) * READS_A_STEP + 1;
      return { calls: Array.from({ length: READS_A_STEP }, (_, index) => read(first + index)) };
    });
    assertEquals(await ask("hundred"), "done");
    assertEquals([step, seen.size], [STEPS + 1, 1]);
    const last = (await model.request(STEPS)).body.messages.at(-1);
    assertStringIncludes(JSON.stringify(last), "line 100");
    await until(() => workers().length === 0);
  },
);

Deno.test(
  needs(
    "a turn goes on when its worker is killed",
    "bubblewrap",
  ),
  async () => {
    await fill();
    const seen: number[] = [];
    let steps = 0;
    await using _model = shared.startModel((): Behaviour => {
      seen.push(...workers().filter((pid) => !seen.includes(pid)));
      if (++steps === 3) Deno.kill(seen.at(-1)!, "SIGKILL");
      if (steps === 6) return { text: "done" };
      return { calls: [read(steps)] };
    });
    assertEquals(await ask("killed"), "done");
    assertEquals(seen.length, 2);
    await until(() => workers().length === 0);
  },
);

Deno.test(needs("a turn that is cancelled leaves no worker", "bubblewrap"), async () => {
  await Deno.writeTextFile(`${workspace()}/a.txt`, `${"a".repeat(40)}!\n`);
  await using _model = shared.startModel({
    calls: [{ tool: "search_files", args: { pattern: "^(a+)+$" } }],
  });
  const leaving = new AbortController();
  const asking = ask("cancelled", leaving.signal).catch((error) => error);
  await until(() => workers().length === 1);
  leaving.abort();
  assert(await asking instanceof Error);
  await until(() => workers().length === 0);
});
