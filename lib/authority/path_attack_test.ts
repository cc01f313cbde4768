import { assert, assertEquals } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { createExecutor } from "../executor/executor.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { verifyAudit } from "../audit/verify.ts";
import { type GateFixture, gateFixture } from "./testing/gate_fixture.ts";

const SECRET = "the-secret-outside";
/** A gate whose workspace has `sub/a.txt`, with a folder beside it that nothing may reach. */
async function withWorld(
  sandbox: "auto" | "off",
  /** Runs between the decision and the child. */
  between: (gate: GateFixture) => void,
  test: (gate: GateFixture, outside: string) => Promise<void>,
): Promise<void> {
  const cacheDir = await Deno.makeTempDir();
  const silent = () => {};
  const log = { debug: silent, info: silent, warning: silent, error: silent };
  const executor = createExecutor({ cacheDir, log, sandbox });
  const run = executor.run.bind(executor);
  const held: { gate?: GateFixture } = {};
  executor.run = (job, options) => {
    between(held.gate!);
    return run(job, options);
  };
  try {
    await using gate = await gateFixture({ executor });
    held.gate = gate;
    const outside = `${gate.root}/outside`;
    await Deno.mkdir(outside);
    await Deno.writeTextFile(`${outside}/a.txt`, SECRET);
    await Deno.mkdir(`${gate.workspace}/sub`);
    await Deno.writeTextFile(`${gate.workspace}/sub/a.txt`, "harmless");
    await test(gate, outside);
    assertEquals([...Deno.readDirSync(outside)].map(({ name }) => name), ["a.txt"]);
    assertEquals(await Deno.readTextFile(`${outside}/a.txt`), SECRET);
  } finally {
    await Deno.remove(cacheDir, { recursive: true });
  }
}

const CALLS: [tool: string, args: unknown][] = [
  ["read_file", { path: "sub/a.txt" }],
  ["list_files", { path: "sub" }],
  ["search_files", { path: "sub", pattern: "secret" }],
  ["write_file", { path: "sub/a.txt", content: "overwritten" }],
  ["write_file", { path: "sub/new.txt", content: "planted" }],
  ["write_file", { path: "sub/deep/new.txt", content: "planted" }],
  ["edit_file", { path: "sub/a.txt", old_text: "harmless", new_text: "changed" }],
  ["edit_file", { path: "sub/a.txt", old_text: "secret", new_text: "changed" }],
];

const SWAPS: [name: string, swap: (workspace: string, outside: string) => void][] = [
  ["the folder for a link", (workspace, outside) => {
    Deno.renameSync(`${workspace}/sub`, `${workspace}/old`);
    Deno.symlinkSync(outside, `${workspace}/sub`);
  }],
  ["the folder for a relative link", (workspace) => {
    Deno.renameSync(`${workspace}/sub`, `${workspace}/old`);
    Deno.symlinkSync("../../outside", `${workspace}/sub`);
  }],
  ["the file for a link", (workspace, outside) => {
    Deno.removeSync(`${workspace}/sub/a.txt`);
    Deno.symlinkSync(`${outside}/a.txt`, `${workspace}/sub/a.txt`);
  }],
  ["the file for a hard link", (workspace, outside) => {
    Deno.removeSync(`${workspace}/sub/a.txt`);
    Deno.linkSync(`${outside}/a.txt`, `${workspace}/sub/a.txt`);
  }],
];

/** Without a sandbox the short run makes each call after one of the swaps. */
function callsFor(sandbox: "auto" | "off", swapName: string): typeof CALLS {
  if (sandbox === "auto" || FULL_RUN.isThere) return CALLS;
  const own = SWAPS.findIndex(([name]) => name === swapName);
  return CALLS.filter((_, at) => at % SWAPS.length === own);
}

for (const sandbox of ["auto", "off"] as const) {
  for (const [name, swap] of SWAPS) {
    Deno.test({
      ...needs(
        `act() reaches nothing outside when ${name} is swapped after the decision (${sandbox})`,
        sandbox === "auto" && "bubblewrap",
      ),
      async fn() {
        for (const [tool, args] of callsFor(sandbox, name)) {
          let swapped = false;
          const between = ({ workspace, root }: GateFixture) => {
            if (!swapped) swap(workspace, `${root}/outside`);
            swapped = true;
          };
          await withWorld(sandbox, between, async (gate) => {
            const result = await gate.act(tool, args);
            assert(swapped, tool);
            assert(!result.output.includes(SECRET), `${tool}: ${result.output}`);
          });
        }
      },
    });
  }
}

Deno.test({
  ...needs(
    "act() reaches nothing outside while a process swaps folder and link all the time",
    "bubblewrap",
  ),
  async fn() {
    await withWorld("auto", () => {}, async (gate, outside) => {
      // Whatever a writer makes in a moment without `sub`, the next round clears away.
      const script = `const [workspace, outside] = Deno.args;
        const [sub, kept] = [workspace + "/sub", workspace + "/kept"];
        const attempt = (does) => { try { does(); } catch { /* the next round */ } };
        console.log("swapping");
        for (;;) {
          attempt(() => Deno.renameSync(sub, kept));
          attempt(() => Deno.symlinkSync(outside, sub));
          attempt(() => Deno.removeSync(sub, { recursive: true }));
          attempt(() => Deno.renameSync(kept, sub));
        }`;
      const file = `${gate.root}/swap.ts`;
      await Deno.writeTextFile(file, script);
      const swapper = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-config", file, gate.workspace, outside],
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const reader = swapper.stdout.getReader();
      assertEquals((await reader.read()).done, false);
      for (let round = 0; round < 8; round++) {
        const results = await Promise.all(CALLS.map(([tool, args]) => gate.act(tool, args)));
        for (const { output } of results) assert(!output.includes(SECRET), output);
      }
      swapper.kill("SIGKILL");
      await swapper.status;
      await reader.cancel();
    });
  },
});

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("act() never reads or writes outside, whatever form a path has", async () => {
  await withWorld("auto", () => {}, async (gate, outside) => {
    // The first action makes what the gate itself keeps in its home.
    await gate.act("list_files", {});
    const before = { root: namesIn(gate.root), home: namesIn(gate.home) };
    using folder = await Deno.open(outside, { read: true });
    using file = await Deno.open(`${outside}/a.txt`, { read: true });
    assert((await folder.stat()).isDirectory && (await file.stat()).isFile);
    const descriptors = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => name);
    const up = "../../outside/a.txt";
    const paths = [
      ...descriptors.flatMap((fd) => [
        `/proc/self/fd/${fd}`,
        `/proc/self/fd/${fd}/a.txt`,
        `/dev/fd/${fd}`,
        `/proc/${Deno.pid}/fd/${fd}`,
      ]),
      `/proc/self/root${outside}/a.txt`,
      `/proc/thread-self/root${outside}/a.txt`,
      `/proc/self/cwd/../../../../../../..${outside}/a.txt`,
      `/proc/1/root${outside}/a.txt`,
      `/./proc/../proc/self/root${outside}/a.txt`,
      up,
      `./${up}`,
      `sub/../${up}`,
      `sub/../../../outside/a.txt`,
      `sub/nothing/../../../../outside/a.txt`,
      `${gate.workspace}/${up}`,
      `//${outside}/a.txt`,
      `${outside}//a.txt`,
      `${outside}/./a.txt`,
      `${outside}/a.txt/`,
      `${outside}/a.txt/.`,
      up.replaceAll("/", "\\"),
      up.replaceAll(".", "\u{ff0e}"),
      up.replaceAll("/", "\u{ff0f}"),
      up.replaceAll("/", "\u{2215}"),
      up.replaceAll("..", "\u{2025}"),
      up.replaceAll("..", ".\u{200b}."),
      up.replaceAll("..", ".. "),
      encodeURIComponent(up),
      "..%2f..%2foutside%2fa.txt",
      "..%c0%af..%c0%afoutside%c0%afa.txt",
      `file://${outside}/a.txt`,
      `${outside.toUpperCase()}/A.TXT`,
      `${up}\0.md`,
      ` ${outside}/a.txt`,
      `${outside}/a.txt `,
      `~${outside}/a.txt`,
      "~/../../outside/a.txt",
      "$HOME/../outside/a.txt",
      `${"sub/../".repeat(400)}${up}`,
      `${"./".repeat(2_030)}${up}`,
      "../".repeat(1_400) + "etc/passwd",
    ];
    for (const path of paths) {
      for (
        const [tool, args] of [
          ["read_file", { path }],
          ["list_files", { path }],
          ["search_files", { path, pattern: SECRET }],
          ["edit_file", { path, old_text: SECRET, new_text: "x" }],
        ] as const
      ) {
        const result = await gate.act(tool, args);
        assert(result.status !== "ok", `${tool} ${path}: ${result.output}`);
        assert(!result.output.includes(`1: ${SECRET}`), `${tool} ${path}`);
      }
      // An odd name may well be a name in the workspace; nothing outside it may change.
      await gate.act("write_file", { path, content: "x" });
    }
    assertEquals(namesIn(gate.root), before.root);
    assertEquals(namesIn(gate.home), before.home);
  });
});

Deno.test("act() gives 200 intact records for 100 actions at once", async () => {
  await using gate = await gateFixture();
  await Deno.writeTextFile(`${gate.workspace}/a.txt`, "text");
  const results = await Promise.all(
    Array.from(
      { length: 100 },
      (_, index) =>
        index % 10 === 9
          ? gate.act("read_file", { path: "missing.txt" })
          : gate.act("read_file", { path: "a.txt" }),
    ),
  );
  assertEquals(results.filter(({ status }) => status === "ok").length, 90);
  const records = await gate.records();
  const actions = records.filter(({ kind }) => kind.startsWith("action."));
  assertEquals(actions.length, 200);
  const starts = actions.filter(({ kind }) => kind === "action.start").map(({ seq }) => seq);
  const ends = actions.filter(({ kind }) => kind === "action.end").map(({ data }) => data.start);
  assertEquals(ends.toSorted((a, b) => Number(a) - Number(b)), starts);
  const finding = await verifyAudit({ dir: `${gate.home}/audit` });
  assert(finding.ok, JSON.stringify(finding));
  assertEquals(finding.unknown, []);
});
