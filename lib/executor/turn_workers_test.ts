import { assert, assertEquals, assertRejects } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { until } from "../../tests/support/process_facts.ts";
import { type ChildPermissions, NO_PERMISSIONS } from "./command.ts";
import { type ChildJob, createExecutor, type Executor, type ExecutorOptions } from "./executor.ts";
import type { ActionProcess } from "./process.ts";
import { TurnWorkers } from "./turn_workers.ts";

const TESTING = new URL("./testing", import.meta.url).pathname;

type Tries = [string, string?][];

interface Run {
  turnId?: string;
  sessionKey?: string;
  permissions?: Partial<ChildPermissions>;
  /** Of the action alone. */
  own?: Partial<ChildPermissions>;
  view?: Partial<ChildJob["view"]>;
  timeoutMs?: number;
  signal?: AbortSignal;
  onProgress?: (text: string) => void;
}

/** An executor whose children can be told from all others, and a workspace. */
class Setup {
  readonly marker = crypto.randomUUID();
  readonly executor: Executor;

  constructor(readonly folder: string, options: Partial<ExecutorOptions>) {
    const silent = () => {};
    const log = { debug: silent, info: silent, warning: silent, error: silent };
    this.executor = createExecutor({ cacheDir: `${folder}/cache`, log, ...options });
  }

  get workspace(): string {
    return `${this.folder}/ws`;
  }

  async run(tries: Tries, run: Run = {}): Promise<unknown> {
    const { turnId = "t", sessionKey = "s", permissions, own, view, timeoutMs = 20_000 } = run;
    const outcome = await this.executor.run({
      task: {
        tool: "try",
        args: { tries },
        target: { kind: "unresolved", what: "", reason: "" },
        workspace: this.workspace,
        maxOutputBytes: 100_000,
      },
      permissions: { ...NO_PERMISSIONS, ...own },
      view: { readOnly: [TESTING, this.workspace], readWrite: [], network: false, ...view },
      timeoutMs,
      entry: new URL("./testing/try_child.ts", import.meta.url),
      worker: {
        ...{ turnId, sessionKey },
        permissions: {
          ...NO_PERMISSIONS,
          read: [this.workspace, `/nothing/${this.marker}`],
          ...permissions,
        },
      },
    }, {
      signal: run.signal ?? new AbortController().signal,
      onProgress: run.onProgress ?? (() => {}),
    });
    return outcome.type === "result"
      ? JSON.parse(outcome.output).map((each: { ok?: unknown; error?: string }) =>
        each.error ?? each.ok
      )
      : outcome;
  }

  /** How often the process that runs this has been asked; 1 is a new one. */
  async count(run: Run = {}): Promise<unknown> {
    return (await this.run([["count"]], run) as unknown[])[0];
  }

  /** Denos in sandboxes, by their numbers outside. */
  workers(): number[] {
    return this.processes().filter((pid) =>
      readText(`/proc/${pid}/cmdline`).split("\0")[0]!.endsWith("deno")
    );
  }

  processes(): number[] {
    return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) =>
      pid > 0 && pid !== Deno.pid && readText(`/proc/${pid}/cmdline`).includes(this.marker)
    );
  }
}

/** Empty where it has ended meanwhile. */
function readText(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

function testWorkers(
  name: string,
  test: (setup: Setup) => Promise<void>,
  options: Partial<ExecutorOptions> = {},
): void {
  Deno.test({
    ...needs(name, "bubblewrap"),
    async fn() {
      const folder = await Deno.realPath(await Deno.makeTempDir());
      await Deno.mkdir(`${folder}/ws`);
      const setup = new Setup(folder, options);
      try {
        await test(setup);
      } finally {
        await setup.executor.shutdown();
        assertEquals(setup.processes(), []);
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

testWorkers("a worker has the actions of a turn, one at a time", async (setup) => {
  const counts = await Promise.all(Array.from({ length: 8 }, () => setup.count()));
  assertEquals(counts.sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
  assertEquals(setup.workers().length, 1);
  // Each may tell as much as the first.
  for (let action = 0; action < 3; action++) {
    let told = 0;
    const onProgress = () => void told++;
    await setup.run(Array.from({ length: 300 }, (): [string] => ["env"]), { onProgress });
    assertEquals(told, 300);
  }
  assertEquals(setup.executor.counts(), { running: 0, waiting: 0, sessions: 0 });
});

testWorkers(
  "a worker is of one session, one turn, one set of permissions and one view",
  async (setup) => {
    const { workspace } = setup;
    const read = [workspace, `/nothing/${setup.marker}`];
    await setup.count();
    const others: Run[] = [
      { turnId: "t2" },
      { sessionKey: "s2" },
      { permissions: { write: [workspace] } },
      { permissions: { read: [...read, `${workspace}/a`] } },
      { view: { readOnly: [TESTING], readWrite: [workspace] } },
    ];
    for (const other of others) assertEquals(await setup.count(other), 1, JSON.stringify(other));
    assertEquals(setup.workers().length, 1 + others.length);
    assertEquals(await setup.count(), 2);

    // A folder in the place of the workspace is another one, and what is mounted still the first.
    await Deno.rename(workspace, `${workspace}-before`);
    await Deno.mkdir(workspace);
    await Deno.writeTextFile(`${workspace}/new`, "new");
    assertEquals(await setup.run([["count"], ["read", `${workspace}/new`]]), [1, "new"]);
  },
);

testWorkers("a worker reaches the workspace as its kind may, and nothing else", async (setup) => {
  const { folder, workspace } = setup;
  await Deno.writeTextFile(`${workspace}/a`, "a");
  await Deno.writeTextFile(`${folder}/secret`, "secret");
  await Deno.symlink(`${folder}/secret`, `${workspace}/link`);
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const address = `127.0.0.1:${listener.addr.port}`;
  const tries: Tries = [
    ["read", `${workspace}/a`],
    ["write", `${workspace}/b`],
    ["read", `${folder}/secret`],
    ["read", `${workspace}/link`],
    ["write", `${workspace}/link`],
    ["read", "/etc/passwd"],
    ["read", "/proc/self/environ"],
    ["read", "/proc/1/cmdline"],
    ["list", "/"],
    ["write", `${folder}/made`],
    ["connect", address],
    ["lookUp", "localhost"],
    ["run", "/bin/true"],
    ["env", "HOME"],
    ["import", "file:///etc/passwd"],
    ["ffi", "/usr/lib/x86_64-linux-gnu/libc.so.6"],
  ];
  const closed = tries.slice(5).map(([what]) =>
    ({ lookUp: "Error", import: "TypeError" })[what] ?? "NotCapable"
  );
  assertEquals(await setup.run(tries), [
    ...["a", "NotCapable", "NotCapable", "NotFound", "NotCapable"],
    ...closed,
  ]);
  const write = {
    permissions: { write: [workspace] },
    view: { readOnly: [TESTING], readWrite: [workspace] },
  };
  assertEquals(await setup.run(tries, write), [
    ...["a", null, "NotCapable", "NotFound", "NotFound"],
    ...closed,
  ]);
  listener.close();
  assertEquals(await Deno.readTextFile(`${folder}/secret`), "secret");

  // Where Deno's permission is not what holds, the sandbox does: all may be read, and nothing is there.
  const all = { permissions: { read: ["/", `/nothing/${setup.marker}`], write: ["/"] } };
  assertEquals(
    await setup.run([
      ["read", `${folder}/secret`],
      ["read", "/etc/passwd"],
      ["write", `${workspace}/a`],
      ["write", `${folder}/made`],
    ], all),
    ["NotFound", "NotFound", "Error", "Error"],
  );
  assertEquals(await Deno.readTextFile(`${workspace}/a`), "a");
  assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).includes("made"), false);
});

testWorkers(
  "G19 a worker that is killed, breaks or eats fails one action, and the next has another",
  async (setup) => {
    const begun = Promise.withResolvers<void>();
    const hanging = setup.run([["hang"]], { onProgress: () => begun.resolve() });
    await begun.promise;
    const waiting = setup.count();
    await until(() => setup.executor.counts().waiting === 1);
    assertEquals(setup.executor.counts(), { running: 1, waiting: 1, sessions: 0 });
    Deno.kill(setup.workers()[0]!, "SIGKILL");
    assertEquals(await hanging, { type: "fault", message: "its process was ended by SIGKILL" });
    assertEquals(await waiting, 1);

    assertEquals(await setup.run([["die"]]), {
      type: "fault",
      message: "its process ended with code 9 and without an answer",
    });
    assertEquals(await setup.count(), 1);
    assertEquals(await setup.run([["eat"]]), {
      type: "fault",
      message: "its process ran out of memory",
      outOfMemory: true,
    });
    assertEquals(await setup.count(), 1);
    // An answer that nobody asked for is no answer to the next.
    const answer = '{"type":"answer","id":9,"result":{"type":"result","output":"[\\"forged\\"]"}}';
    await setup.run([["say", `\0\0\0${String.fromCharCode(answer.length)}${answer}`]]);
    await until(() => setup.processes().length === 0);
    assertEquals(await setup.count(), 1);

    // One that is killed while it rests may fail the next before anybody knows.
    Deno.kill(setup.workers()[0]!, "SIGKILL");
    await until(() => setup.processes().length === 0);
    await until(async () => await setup.count() === 1);
  },
);

testWorkers("a worker is killed with an action whose time is up", async (setup) => {
  for (const what of ["hang", "spin"]) {
    await setup.count();
    assertEquals(await setup.run([[what]], { timeoutMs: 300 }), {
      type: "timeout",
      timeoutMs: 300,
    });
    assertEquals(setup.processes(), []);
  }
  assertEquals(await setup.count(), 1);
});

testWorkers(
  "a worker is killed with an action that is cancelled, not with one that waits",
  async (setup) => {
    assertEquals(await setup.count(), 1);
    const [first, second] = [new AbortController(), new AbortController()];
    const begun = Promise.withResolvers<void>();
    const onProgress = () => begun.resolve();
    const running = setup.run([["hang"]], { signal: first.signal, onProgress });
    await begun.promise;
    const waiting = setup.count({ signal: second.signal });
    const next = setup.count();
    await until(() => setup.executor.counts().waiting === 2);
    const [worker] = setup.workers();
    second.abort(new Error("left"));
    await assertRejects(() => waiting, Error, "left");
    assertEquals(setup.workers(), [worker]);
    first.abort(new Error("stop"));
    await assertRejects(() => running, Error, "stop");
    assert(!setup.workers().includes(worker!));
    assertEquals(await next, 1);
  },
);

testWorkers("a worker ends with its turn, and no other does", async (setup) => {
  await setup.count();
  await setup.count({ turnId: "t2" });
  setup.executor.turnEnded("t");
  await until(() => setup.workers().length === 1);
  assertEquals(await setup.count({ turnId: "t2" }), 2);

  // One that still has an action ends after it.
  const begun = Promise.withResolvers<void>();
  const onProgress = () => begun.resolve();
  const late = setup.run([["count"], ["count"]], { turnId: "t2", onProgress });
  await begun.promise;
  setup.executor.turnEnded("t2");
  assertEquals(await late, [3, 4]);
  await until(() => setup.processes().length === 0);
});

testWorkers("a worker that rests ends after a while", async (setup) => {
  await setup.count();
  await until(() => setup.processes().length === 0);
  assertEquals(await setup.count(), 1);
}, { workerIdleMs: 20 });

Deno.test("an action has a process of its own with its own permissions where there is no sandbox", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${folder}/ws`);
  await Deno.writeTextFile(`${folder}/ws/a`, "a");
  await Deno.writeTextFile(`${folder}/ws/b`, "b");
  const setup = new Setup(folder, { sandbox: "off" });
  const own = { read: [`${setup.workspace}/a`] };
  const tries: Tries = [["count"], ["read", `${setup.workspace}/a`], [
    "read",
    `${setup.workspace}/b`,
  ]];
  for (let action = 0; action < 2; action++) {
    assertEquals(await setup.run(tries, { own }), [1, "a", "NotCapable"]);
  }
  await setup.executor.shutdown();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("TurnWorkers keeps at most 16 that rest, and ends the one that has rested longest", async () => {
  const ended: string[] = [];
  const start = (name: string) => {
    const gone = Promise.withResolvers<{ reason: string; stderr: string }>();
    return Promise.resolve(
      {
        peer: { over: undefined },
        gone: gone.promise,
        end(reason: string) {
          ended.push(name);
          gone.resolve({ reason, stderr: "" });
        },
      } as unknown as ActionProcess,
    );
  };
  const workers = new TurnWorkers({ idleMs: 1_000_000 });
  const { signal } = new AbortController();
  const use = (key: string) =>
    workers.run({ key, turnId: "t" }, signal, (process) => process(() => start(key)));
  const keys = Array.from({ length: 16 }, (_, index) => String(index));
  for (const key of keys) await use(key);
  await use("0");
  assertEquals(ended, []);
  await use("one more");
  assertEquals(ended, ["1"]);
  workers.turnEnded("other");
  workers.turnEnded("t");
  assertEquals(ended.length, 17);
});
