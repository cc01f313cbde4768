import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { NO_SANDBOX } from "../../tests/support/rounds.ts";
import { NO_PERMISSIONS } from "./command.ts";
import { type ChildJob, type ChildOutcome, createExecutor, type Executor } from "./executor.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const ENTRY = new URL("./testing/try_child.ts", import.meta.url);
interface Setup {
  executor: Executor;
  /** Real path. */
  folder: string;
  job(tries: [string, string?][], more?: Partial<ChildJob>): ChildJob;
  run(job: ChildJob, more?: Partial<RunOptions>): Promise<ChildOutcome>;
}

interface RunOptions {
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

/** Runs a test with a sandbox, where there is one, and without. */
function testBoth(name: string, test: (setup: Setup, confined: boolean) => Promise<void>): void {
  for (const sandbox of ["auto", "off"] as const) {
    const confined = sandbox === "auto";
    Deno.test({
      ...needs(
        `${name} (${confined ? "in the sandbox" : "without a sandbox"})`,
        confined ? "bubblewrap" : NO_SANDBOX,
      ),
      async fn() {
        const folder = await Deno.realPath(await Deno.makeTempDir());
        const silent = () => {};
        const log = { debug: silent, info: silent, warning: silent, error: silent };
        const executor = createExecutor({ cacheDir: `${folder}/cache`, log, sandbox });
        const setup: Setup = {
          executor,
          folder,
          job: (tries, more = {}) => ({
            task: {
              tool: "try",
              args: { tries },
              target: { kind: "unresolved", what: "", reason: "" },
              workspace: folder,
              maxOutputBytes: 100_000,
            },
            permissions: NO_PERMISSIONS,
            view: { readOnly: [], readWrite: [], network: false },
            timeoutMs: 20_000,
            entry: ENTRY,
            ...more,
          }),
          run: (job, more = {}) =>
            executor.run(job, {
              signal: more.signal ?? new AbortController().signal,
              onProgress: more.onProgress ?? (() => {}),
            }),
        };
        // Only the test's own entry is bound beside what every child sees.
        const { job } = setup;
        setup.job = (tries, more = {}) => {
          const made = job(tries, more);
          const readOnly = [new URL("./testing", import.meta.url).pathname, ...made.view.readOnly];
          return { ...made, view: { ...made.view, readOnly } };
        };
        try {
          await test(setup, confined);
        } finally {
          await executor.shutdown();
          await Deno.remove(folder, { recursive: true });
        }
      },
    });
  }
}

function outcomes(outcome: ChildOutcome): { ok?: unknown; error?: string }[] {
  if (outcome.type !== "result") throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.output);
}

testBoth("run() gives a child nothing that its action does not need", async (setup) => {
  const { folder, job, run } = setup;
  await Deno.writeTextFile(`${folder}/canary`, "seen");
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const results = outcomes(
    await run(job([
      ["read", `${folder}/canary`],
      ["read", "/etc/passwd"],
      ["read", "/proc/self/environ"],
      ["list", "/"],
      ["write", `${folder}/made`],
      ["connect", `127.0.0.1:${listener.addr.port}`],
      ["connect", "127.0.0.1:22"],
      ["lookUp", "localhost"],
      ["run", "/bin/true"],
      ["env", "PATH"],
      ["env", "HOME"],
      ["import", "npm:zod"],
      ["import", "file:///etc/passwd"],
      ["import", "data:text/javascript,export default 1"],
      ["ffi", "/usr/lib/x86_64-linux-gnu/libc.so.6"],
    ])),
  );
  listener.close();
  const allowed = results.map((result, index) => "ok" in result ? index : -1).filter((i) => i >= 0);
  // A data: URL is code that the child has already, and reaches nothing more than it.
  assertEquals(allowed, [13], JSON.stringify(results));
  assertEquals(results.slice(0, 3).map(({ error }) => error), Array(3).fill("NotCapable"));
});

testBoth("run() grants exactly the paths and addresses of the permissions", async (setup) => {
  const { folder, job, run } = setup;
  await Deno.mkdir(`${folder}/work`);
  await Deno.writeTextFile(`${folder}/work/a`, "a");
  await Deno.writeTextFile(`${folder}/work/b`, "b");
  const [open, other] = [0, 0].map(() => Deno.listen({ port: 0, hostname: "127.0.0.1" }));
  const results = outcomes(
    await run(job([
      ["read", `${folder}/work/a`],
      ["read", `${folder}/work/b`],
      ["write", `${folder}/work/a`],
      ["write", `${folder}/work/c`],
      ["connect", `127.0.0.1:${open!.addr.port}`],
      ["connect", `127.0.0.1:${other!.addr.port}`],
    ], {
      permissions: {
        ...NO_PERMISSIONS,
        read: [`${folder}/work/a`],
        write: [`${folder}/work/c`],
        net: [`127.0.0.1:${open!.addr.port}`],
      },
      view: { readOnly: [], readWrite: [`${folder}/work`], network: true },
    })),
  );
  open!.close();
  other!.close();
  assertEquals(results.map((result) => "ok" in result), [true, false, false, true, true, false]);
  assertEquals(await Deno.readTextFile(`${folder}/work/c`), "x");
});

testBoth("run() closes private ranges a second time", async ({ job, run }) => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const address = `127.0.0.1:${listener.addr.port}`;
  const results = outcomes(
    await run(job([["connect", address], ["connect", `[::]:${listener.addr.port}`]], {
      permissions: { ...NO_PERMISSIONS, net: [address, "[::]"], denyNet: ["127.0.0.0/8", "[::]"] },
      view: { readOnly: [], readWrite: [], network: true },
    })),
  );
  listener.close();
  assertEquals(results.map(({ error }) => error), ["NotCapable", "NotCapable"]);
});

testBoth("G17 run() hands no variable of the service to the child", async ({ job, run }) => {
  Deno.env.set("A_SECRET_OF_THE_SERVICE", "s3cret");
  try {
    const answer = await run(job([["env", "A_SECRET_OF_THE_SERVICE"]]));
    assertEquals(outcomes(answer), [{ error: "NotCapable" }]);
    const marker = crypto.randomUUID();
    const environments: string[] = [];
    const controller = new AbortController();
    await run(
      job([["hang"]], { permissions: { ...NO_PERMISSIONS, read: [`/nothing/${marker}`] } }),
      {
        signal: controller.signal,
        onProgress() {
          for (const pid of findProcesses(marker)) {
            environments.push(Deno.readTextFileSync(`/proc/${pid}/environ`));
          }
          controller.abort();
        },
      },
    ).catch(() => {});
    assert(environments.length > 0);
    assert(!environments.join().includes("s3cret"), environments.join());
  } finally {
    Deno.env.delete("A_SECRET_OF_THE_SERVICE");
  }
});

Deno.test({
  ...needs("run() holds a path permission that follows a link, where the sandbox is", "bubblewrap"),
  async fn() {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    await Deno.mkdir(`${folder}/work`);
    await Deno.mkdir(`${folder}/outside`);
    await Deno.writeTextFile(`${folder}/outside/secret`, "secret");
    await Deno.symlink("../outside", `${folder}/work/link`);
    const silent = () => {};
    const log = { debug: silent, info: silent, warning: silent, error: silent };
    const task = {
      tool: "try",
      args: { tries: [["read", `${folder}/work/link/secret`], ["write", `${folder}/work/link/x`]] },
      target: { kind: "unresolved" as const, what: "", reason: "" },
      workspace: `${folder}/work`,
      maxOutputBytes: 1_000,
    };
    const permissions = {
      ...NO_PERMISSIONS,
      read: [`${folder}/work`],
      write: [`${folder}/work`],
    };
    const testing = new URL("./testing", import.meta.url).pathname;
    const job: ChildJob = {
      task,
      permissions,
      view: { readOnly: [testing], readWrite: [`${folder}/work`], network: false },
      timeoutMs: 20_000,
      entry: ENTRY,
    };
    const executor = createExecutor({ cacheDir: `${folder}/cache`, log });
    const options = { signal: new AbortController().signal, onProgress: silent };
    assertEquals(outcomes(await executor.run(job, options)).map(({ error }) => error), [
      "NotFound",
      "NotFound",
    ]);
    await executor.shutdown();
    assertEquals([...Deno.readDirSync(`${folder}/outside`)].length, 1);
    await Deno.remove(folder, { recursive: true });
  },
});

testBoth(
  "G19 run() answers with a fault when the child is killed or dies",
  async ({ job, run }) => {
    const died = await run(job([["die"]]));
    assertEquals(died, {
      type: "fault",
      message: "its process ended with code 9 and without an answer",
    });
    const eaten = await run(job([["eat"]]));
    assertEquals(eaten, {
      type: "fault",
      message: "its process ran out of memory",
      outOfMemory: true,
    });
  },
);

Deno.test("G19 run() answers with a fault when somebody kills the child", async () => {
  const folder = await Deno.makeTempDir();
  const silent = () => {};
  const log = { debug: silent, info: silent, warning: silent, error: silent };
  const executor = createExecutor({ cacheDir: `${folder}/cache`, log, sandbox: "off" });
  const marker = crypto.randomUUID();
  const job: ChildJob = {
    task: {
      tool: "try",
      args: { tries: [["hang", ""]] },
      target: { kind: "unresolved", what: "", reason: "" },
      workspace: folder,
      maxOutputBytes: 1_000,
    },
    permissions: { ...NO_PERMISSIONS, read: [`/nothing/${marker}`] },
    view: { readOnly: [], readWrite: [], network: false },
    timeoutMs: 20_000,
    entry: ENTRY,
  };
  const outcome = await executor.run(job, {
    signal: new AbortController().signal,
    onProgress: () => Deno.kill(findProcess(marker)!, "SIGKILL"),
  });
  assertEquals(outcome, { type: "fault", message: "its process was ended by SIGKILL" });
  await executor.shutdown();
  await Deno.remove(folder, { recursive: true });
});

testBoth("run() ends a child that hangs or spins when its time is up", async ({ job, run }) => {
  for (const tries of [[["hang"]], [["spin"]]] as [string, string?][][]) {
    const marker = crypto.randomUUID();
    const outcome = await run(job(tries, {
      timeoutMs: 300,
      permissions: { ...NO_PERMISSIONS, read: [`/nothing/${marker}`] },
    }));
    assertEquals(outcome, { type: "timeout", timeoutMs: 300 });
    assertEquals(findProcess(marker), undefined);
  }
});

testBoth("run() leaves no process behind when it is aborted", async ({ executor, job, run }) => {
  const marker = crypto.randomUUID();
  const controller = new AbortController();
  const reason = new Error("stop");
  const started = Promise.withResolvers<void>();
  const running = run(
    job([["spin"]], { permissions: { ...NO_PERMISSIONS, read: [`/nothing/${marker}`] } }),
    { signal: controller.signal, onProgress: () => started.resolve() },
  );
  await started.promise;
  assert(findProcess(marker) !== undefined);
  controller.abort(reason);
  assertEquals(await running.catch((error) => error), reason);
  assertEquals(findProcess(marker), undefined);
  assertEquals(executor.counts(), { running: 0, waiting: 0, sessions: 0 });
});

testBoth("run() streams progress, and bounds it", async ({ job, run }) => {
  const seen: string[] = [];
  const tries = Array.from({ length: 1_500 }, (): [string, string?] => ["env", "X"]);
  await run(job(tries), { onProgress: (text) => seen.push(text) });
  assertEquals(seen.length, 1_500);
});

testBoth("run() takes only frames of the protocol from a child", async ({ job, run }) => {
  const frame = (body: string) => String.fromCharCode(0, 0, 0, body.length) + body;
  const cases: [string, RegExp][] = [
    [frame("nonsense"), /cannot be understood/],
    [frame('{"type":"launch"}'), /no known frame/],
    [frame("[1]"), /no known frame/],
    ["\x7f\x7f\x7f\x7f", /cannot be understood: Cannot take a frame of/],
  ];
  for (const [said, expected] of cases) {
    const outcome = await run(job([["say", said], ["hang"]]));
    assertEquals(outcome.type, "fault");
    assertMatch((outcome as { message: string }).message, expected);
  }
  const flooded = await run(job([["flood"]]));
  assertEquals(flooded.type, "fault");
});

testBoth("run() waits for a place, and gives up the wait when aborted", async (setup) => {
  const { executor, job, run } = setup;
  const controller = new AbortController();
  const full = Promise.withResolvers<void>();
  let started = 0;
  const hanging = Array.from({ length: 16 }, () =>
    run(job([["hang"]]), {
      signal: controller.signal,
      onProgress: () => ++started === 16 && full.resolve(),
    }).catch(() => "aborted"));
  await full.promise;
  const second = new AbortController();
  const waiting = run(job([["env", "X"]]), { signal: second.signal });
  assertEquals(executor.counts(), { running: 16, waiting: 1, sessions: 0 });
  second.abort(new Error("left"));
  assertEquals((await waiting.catch((error) => error)).message, "left");
  const next = run(job([["env", "X"]]));
  controller.abort();
  assertEquals((await next).type, "result");
  assertEquals(await Promise.all(hanging), Array(16).fill("aborted"));
});

testBoth("a child exits when its standard input ends", async ({ folder }, confined) => {
  if (confined) return;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-config", "--no-lock", ENTRY.href],
    clearEnv: true,
    env: { DENO_DIR: `${folder}/cache` },
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await child.stdin.close();
  assertEquals((await child.status).code, 3);
});

testBoth("no child outlives an authority that was killed", async ({ folder }, confined) => {
  const marker = crypto.randomUUID();
  const authority = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--cached-only",
      ...lockedFlags(),
      new URL("./testing/run_forever.ts", import.meta.url).pathname,
      confined ? "auto" : "off",
      folder,
      marker,
      // Without a sandbox a busy child is ended by its limit of processor time, later.
      confined ? "spin" : "hang",
    ],
    stdout: "piped",
  }).spawn();
  const reader = authority.stdout.getReader();
  await reader.read();
  assert(findProcesses(marker).length > 1);
  authority.kill("SIGKILL");
  await authority.status;
  await reader.cancel();
  for (let waits = 0; findProcess(marker) !== undefined && waits < 500; waits++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assertEquals(findProcess(marker), undefined);
});

Deno.test("runAsChild() narrows a process with every permission to those of the action", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  // A comma cannot be spelled in a permission flag, so this path takes the binary's way.
  await Deno.mkdir(`${folder}/a,b`);
  await Deno.writeTextFile(`${folder}/a,b/in.txt`, "inside");
  await Deno.writeTextFile(`${folder}/out.txt`, "outside");
  const silent = () => {};
  const log = { debug: silent, info: silent, warning: silent, error: silent };
  const executor = createExecutor({ cacheDir: `${folder}/cache`, log, sandbox: "off" });
  const read = async (name: string, permitted: string) => {
    const real = `${folder}/${name}`;
    const [info, above] = [await Deno.stat(real), await Deno.stat(folder)];
    return await executor.run({
      task: {
        tool: "read_file",
        args: { offset: 1, limit: 10 },
        target: {
          kind: "path",
          access: "read",
          path: real,
          real,
          viaLink: false,
          file: { isDirectory: false, dev: info.dev, ino: info.ino!, links: 1 },
          folder: { real: folder, dev: above.dev, ino: above.ino! },
        },
        workspace: folder,
        maxOutputBytes: 1_000,
      },
      permissions: { ...NO_PERMISSIONS, read: [permitted] },
      view: { readOnly: [], readWrite: [], network: false },
      timeoutMs: 20_000,
    }, { signal: new AbortController().signal, onProgress: silent });
  };
  assertEquals(await read("a,b/in.txt", `${folder}/a,b/in.txt`), {
    type: "result",
    output: "inside",
  });
  const refused = await read("out.txt", `${folder}/a,b/in.txt`);
  assertEquals(refused.type, "failure");
  assertStringIncludes((refused as { message: string }).message, "Requires read access");
  await executor.shutdown();
  await Deno.remove(folder, { recursive: true });
});

function findProcess(marker: string): number | undefined {
  return findProcesses(marker)[0];
}

/** The processes whose command line holds a text. */
function findProcesses(marker: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    if (!Number.isInteger(pid) || pid === Deno.pid) return false;
    try {
      return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(marker);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}
