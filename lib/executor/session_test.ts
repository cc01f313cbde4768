import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { NO_SANDBOX } from "../../tests/support/rounds.ts";
import { boundedProgress } from "./bounded_progress.ts";
import type { ChildSession } from "./child_session.ts";
import { type ChildPermissions, NO_PERMISSIONS } from "./command.ts";
import { createExecutor, type Executor, type SessionJob } from "./executor.ts";
import { PROXY_CHILD } from "../network/proxy/protocol.ts";
import { PROXY_LIMITS } from "./network/open_network.ts";
import { TRY_SESSION, tryHandlers } from "./testing/session_kind.ts";

const ENTRY = new URL("./testing/session_child.ts", import.meta.url);
const TIMEOUT = { timeoutMs: 20_000 };
type TrySession = ChildSession<typeof TRY_SESSION.child>;
type TryJob = SessionJob<typeof TRY_SESSION.authority, typeof TRY_SESSION.child>;

interface Setup {
  executor: Executor;
  folder: string;
  /** Warnings of the log. */
  faults: Record<string, unknown>[];
  open(
    handlers?: Parameters<typeof tryHandlers>[0],
    more?: Partial<TryJob>,
    options?: { signal?: AbortSignal },
  ): Promise<TrySession>;
}

async function withExecutor(
  sandbox: "auto" | "off",
  test: (setup: Setup) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const silent = () => {};
  const faults: Record<string, unknown>[] = [];
  const log = {
    debug: silent,
    info: silent,
    warning: (_: string, facts?: Record<string, unknown>) => faults.push(facts ?? {}),
    error: silent,
  };
  const executor = createExecutor({ cacheDir: `${folder}/cache`, log, sandbox });
  const open: Setup["open"] = (handlers = {}, more = {}, options) =>
    executor.open(
      {
        name: "try",
        entry: ENTRY,
        kind: TRY_SESSION,
        params: {},
        permissions: NO_PERMISSIONS,
        view: {
          readOnly: [new URL("./testing", import.meta.url).pathname],
          readWrite: [],
          network: false,
        },
        ...more,
      },
      tryHandlers(handlers),
      options,
    );
  try {
    await test({ executor, folder, faults, open });
  } finally {
    await executor.shutdown();
    assertEquals(executor.counts().sessions, 0);
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a test with a sandbox, where there is one, and without. */
function testBoth(name: string, test: (setup: Setup) => Promise<void>): void {
  for (const sandbox of ["auto", "off"] as const) {
    Deno.test({
      ...needs(
        `${name} (${sandbox === "auto" ? "in the sandbox" : "without a sandbox"})`,
        sandbox === "auto" ? "bubblewrap" : NO_SANDBOX,
      ),
      fn: () => withExecutor(sandbox, test),
    });
  }
}

/** The processes whose command line holds a text. */
function findProcesses(marker: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    if (!Number.isInteger(pid) || pid === Deno.pid) return false;
    try {
      return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(marker);
    } catch {
      return false;
    }
  });
}

testBoth("open() gives a session that answers and asks, many at once", async ({ open }) => {
  const add = (params: unknown) => {
    const [a, b] = params as [number, number];
    return a + b;
  };
  const session = await open({ calls: { add } }, {
    params: { begin: "ask", list: ["ä", { deep: [null] }] },
  });
  const params = { begin: "ask", list: ["ä", { deep: [null] }] };
  assertEquals(await session.call("params", null, TIMEOUT), params);
  const many = Array.from(
    { length: 60 },
    (_, n) => session.call("ask", ["add", [n, 1]], TIMEOUT),
  );
  assertEquals(await Promise.all(many), Array.from({ length: 60 }, (_, n) => n + 1));
  await assertRejects(() => session.call("fail", "in words", TIMEOUT), Error, "in words");
  await session.close();
  assertEquals(await session.ended, "it was closed");
  await assertRejects(() => session.call("echo", 1, TIMEOUT), Error, "it was closed");
});

testBoth("open() hands a child nothing but its permissions", async ({ open }) => {
  const session = await open();
  for (
    const [method, params] of [["readFile", "/etc/hostname"], ["env", null], ["run", ["/bin/true"]]]
  ) {
    await assertRejects(
      () => session.call(method as "run", params, TIMEOUT),
      Error,
      "Requires",
    );
  }
});

testBoth("open() rejects with the reason when a child does not become ready", async (setup) => {
  const { open, executor } = setup;
  const begin = (begin: string) => open({}, { params: { begin }, startTimeoutMs: 5_000 });
  await assertRejects(() => begin("throw"), Error, "cannot begin: no");
  await assertRejects(() => begin("exit"), Error, "its process ended with code 9");
  await assertRejects(() => begin("garbage"), Error, "what it says cannot be understood: Cannot");
  await assertRejects(
    () => open({}, { params: { begin: "hang" }, startTimeoutMs: 300 }),
    Error,
    "it was not ready within 0.3 s",
  );
  await assertRejects(
    () => open({}, { entry: new URL("./testing/not_there.ts", import.meta.url) }),
    Error,
    "its process ended with code 1",
  );
  await assertRejects(
    () => open({}, { params: "x".repeat(17 * 1024 * 1024) }),
    RangeError,
    "frame",
  );
  const controller = new AbortController();
  const opening = open({}, { params: { begin: "hang" } }, { signal: controller.signal });
  controller.abort(new Error("changed my mind"));
  await assertRejects(() => opening, Error, "changed my mind");
  assertEquals(executor.counts().sessions, 0);
});

testBoth("request() gives up after its time or an abort, and tells the child", async ({ open }) => {
  const aborted = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let at = 0;
  const session = await open({ notices: { aborted: () => aborted[at++]!.resolve() } });
  await assertRejects(
    () => session.call("hang", null, { timeoutMs: 100 }),
    Error,
    "no answer within 0.1 s",
  );
  await aborted[0]!.promise;
  const controller = new AbortController();
  const { signal } = controller;
  const asked = session.call("hang", null, { ...TIMEOUT, signal });
  asked.catch(() => {});
  await session.call("echo", 1, TIMEOUT);
  controller.abort(new Error("stop"));
  await assertRejects(() => asked, Error, "stop");
  await aborted[1]!.promise;
  await assertRejects(() => session.call("echo", 1, { ...TIMEOUT, signal }), Error, "stop");
  // Its late answers were nobody's.
  assertEquals(await session.call("echo", "still here", TIMEOUT), "still here");
});

testBoth("request() tells of the child's end, however that comes", async ({ open, faults }) => {
  const ends: [keyof typeof TRY_SESSION.child.calls, unknown, string][] = [
    ["exit", 7, "its process ended with code 7"],
    ["kill", null, "its process was ended by SIGKILL"],
    ["eat", null, "its process ran out of memory"],
    ["sayBytes", [0x7f, 0x7f, 0x7f, 0x7f], "Cannot take a frame of 2139062143 bytes"],
    ["sayBytes", [0, 0, 0, 2, 0x7b, 0x7b], "what it says cannot be understood"],
    ["sayFrame", [1, 2], "it said no known frame"],
    ["sayFrame", { type: "launch" }, "it said no known frame"],
    ["sayFrame", { type: "answer", id: 1.5 }, "it said no known frame"],
    ["sayFrame", { type: "notice", name: "x".repeat(201) }, "it said no known frame"],
    ["sayFrame", { type: "answer", id: 99, result: 1 }, "it answered a call that nobody made"],
    ["sayFrame", { type: "progress", id: 99, text: "" }, "it answered a call that nobody made"],
  ];
  for (const [method, params, expected] of ends) {
    const session = await open();
    const waiting = session.call("deaf", null, TIMEOUT).catch((error) => error);
    const error = await session.call(method, params, TIMEOUT).then(
      // It may still answer before what it said is known to be wrong.
      () => waiting,
      (error) => error,
    );
    // The sandbox tells of its child's signal by a code.
    const said = method === "kill"
      ? (error as Error).message.replace("ended with code 137", "was ended by SIGKILL")
      : (error as Error).message;
    assertStringIncludes(said, expected);
    assertEquals((await waiting as Error).message, (error as Error).message);
    assertEquals(await session.ended, (error as Error).message);
  }
  assertEquals(faults.length, ends.length);
});

testBoth("a second answer to a call ends the session", async ({ open }) => {
  const session = await open();
  assertEquals(await session.call("echo", 1, TIMEOUT), 1);
  session.call("sayFrame", { type: "answer", id: 2, result: "again" }, TIMEOUT).catch(() => {});
  assertEquals(await session.ended, "it answered a call that nobody made");
});

testBoth("a number that is called under twice ends the session", async ({ open }) => {
  const session = await open({ calls: { wait: () => new Promise(() => {}) } });
  const twice = { type: "call", id: 5, method: "wait" };
  await session.call("sayFrame", twice, TIMEOUT);
  session.call("sayFrame", twice, TIMEOUT).catch(() => {});
  assertStringIncludes(await session.ended, "it called twice under the number 5");
});

testBoth("64 calls are under way at most, in both directions", async ({ open }) => {
  let asked = 0;
  let most = 0;
  const session = await open();
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = Array.from(
    { length: 64 },
    () => session.call("deaf", null, { ...TIMEOUT, signal }),
  );
  await assertRejects(
    () => session.call("echo", 1, TIMEOUT),
    Error,
    "64 calls are under way",
  );
  controller.abort(new Error("enough"));
  await Promise.allSettled(waiting);
  // The child did not heed that: what it may have under way is bounded there too.
  await assertRejects(
    () => session.call("echo", 1, TIMEOUT),
    Error,
    "64 calls are under way",
  );
  const other = await open({
    calls: {
      async add() {
        most = Math.max(most, ++asked);
        await new Promise((resolve) => setTimeout(resolve));
        asked--;
      },
    },
  });
  const statuses = await other.call("askMany", 1_200, TIMEOUT) as string[];
  assertEquals(statuses.filter((status) => status === "fulfilled").length, 64);
  assert(most <= 64, String(most));
  // One that does not hold itself to that is told so.
  let taken = 0;
  const rude = await open({ calls: { wait: () => (taken++, new Promise(() => {})) } });
  for (let id = 1; id <= 70; id++) {
    const frame = { type: "call", id, method: "wait" };
    await rude.call("sayFrame", frame, TIMEOUT).catch(() => {});
  }
  // Its own end does not know of that call, and takes the answer for nonsense.
  assertEquals(await rude.ended, "its process ended with code 4");
  assertEquals(taken, 64);
});

testBoth("what the authority throws reaches the child in words", async ({ open }) => {
  const session = await open({
    calls: {
      sync() {
        throw new Error("at once");
      },
      async: () => Promise.reject(new Error("later")),
    },
  });
  const ask = (method: string) => session.call("ask", [method, null], TIMEOUT);
  await assertRejects(() => ask("sync"), Error, "at once");
  await assertRejects(() => ask("async"), Error, "later");
  await assertRejects(() => ask("toString"), Error, "toString is not answered here");
});

testBoth("the authority's handler is aborted when the child gives up or ends", async ({ open }) => {
  const aborted: string[] = [];
  const asked = Promise.withResolvers<void>();
  const session = await open({
    calls: {
      wait: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            aborted.push(signal.reason.message);
            reject(signal.reason);
          });
          asked.resolve();
        }),
    },
  });
  const given = await session.call("askAborted", 50, TIMEOUT);
  assertEquals(given, "no answer within 0.05 s");
  session.call("ask", ["wait", null], TIMEOUT).catch(() => {});
  await asked.promise;
  await session.call("echo", 1, TIMEOUT);
  await session.close();
  assertEquals(aborted, ["cancelled", "it was closed"]);
});

testBoth("progress comes while a request is answered, and is bounded", async ({ open }) => {
  const session = await open();
  const seen: string[] = [];
  const onProgress = (text: string) => void seen.push(text);
  assertEquals(await session.call("progress", 3, { ...TIMEOUT, onProgress }), "done");
  assertEquals(seen, ["step 0", "step 1", "step 2"]);
  seen.length = 0;
  const bounded = boundedProgress(onProgress, { maxChars: 1_000_000, maxTexts: 10_000 });
  const options = { ...TIMEOUT, onProgress: bounded };
  assertEquals(await session.call("progress", 12_000, options), "done");
  assertEquals([seen.length, seen.at(-1)], [10_000, "step 9999"]);
});

testBoth(
  "a frame of 16 MiB passes, a larger one is an error of its request alone",
  async (setup) => {
    const session = await setup.open();
    const MIB = 1024 * 1024;
    const large = await session.call("large", 15 * MIB, TIMEOUT) as string;
    assertEquals(large.length, 15 * MIB);
    await assertRejects(() => session.call("large", 16 * MIB, TIMEOUT), Error, "the limit is");
    await assertRejects(
      () => session.call("echo", "x".repeat(16 * MIB), TIMEOUT),
      RangeError,
      "the limit is",
    );
    assertEquals(
      await session.call("echo", "x".repeat(15 * MIB), TIMEOUT).then(String),
      "x".repeat(15 * MIB),
    );
  },
);

testBoth(
  "a flood of notices slows its child, not this thread, and fills no memory",
  async (setup) => {
    const { open } = setup;
    let notices = 0;
    const enough = Promise.withResolvers<void>();
    const flooding = await open({
      notices: { flood: () => void (++notices === 20_000 && enough.resolve()) },
    });
    const other = await open();
    flooding.call("flood", null, TIMEOUT).catch(() => {});
    const before = Deno.memoryUsage().rss;
    let longestMs = 0;
    let answers = 0;
    let done = false;
    enough.promise.then(() => done = true);
    while (!done) {
      const start = performance.now();
      assertEquals(await other.call("echo", answers, TIMEOUT), answers++);
      longestMs = Math.max(longestMs, performance.now() - start);
    }
    assert(answers > 100, `${answers} answers`);
    assert(longestMs < 10_000, `${longestMs} ms`);
    const grown = (Deno.memoryUsage().rss - before) / 1024 / 1024;
    assert(grown < 150, `${grown} MiB`);
    await flooding.close();
  },
);

testBoth(
  "a child that does not read is ended before what waits for it fills memory",
  async (setup) => {
    const session = await setup.open();
    const spinning = session.call("spin", null, TIMEOUT).catch((error) => error);
    const MIB = 1024 * 1024;
    const large = () => session.call("echo", "x".repeat(12 * MIB), TIMEOUT).catch((error) => error);
    const asked = [large(), large(), large()];
    const reason = "it does not read what it is told";
    assertEquals(await session.ended, reason);
    for (const error of [await spinning, ...await Promise.all(asked)] as Error[]) {
      assertEquals(
        error.message,
        reason,
      );
    }
  },
);

testBoth("close() ends the whole tree, also of a child that spins", async ({ open }) => {
  const marker = crypto.randomUUID();
  const permissions = { ...NO_PERMISSIONS, read: [`/nothing/${marker}`] };
  const session = await open({}, { permissions });
  assert(findProcesses(marker).length > 0);
  session.call("spin", null, TIMEOUT).catch(() => {});
  await session.close();
  await session.close();
  assertEquals(findProcesses(marker), []);
});

testBoth("shutdown() ends every session with its reason, and lets none begin", async (setup) => {
  const { open, executor, faults } = setup;
  const sessions = await Promise.all([open(), open()]);
  assertEquals(executor.counts(), { running: 0, waiting: 0, sessions: 2 });
  const asked = sessions.map((session) =>
    session.call("deaf", null, TIMEOUT).catch((e) => e.message)
  );
  const opening = open({}, { params: { begin: "hang" } }).catch((error) => error.message);
  await executor.shutdown();
  const reason = "the service is stopping";
  assertEquals(await Promise.all(sessions.map(({ ended }) => ended)), [reason, reason]);
  assertEquals(await Promise.all(asked), [reason, reason]);
  assertEquals(await opening, reason);
  assertEquals(faults, []);
});

Deno.test("open() refuses the 33rd session, and gives a place back when one ends", async () => {
  await withExecutor("off", async ({ folder }) => {
    const silent = () => {};
    const log = { debug: silent, info: silent, warning: silent, error: silent };
    const executor = createExecutor({
      cacheDir: `${folder}/c`,
      log,
      sandbox: "off",
      maxSessions: 2,
    });
    const job: TryJob = {
      name: "try",
      entry: ENTRY,
      kind: TRY_SESSION,
      params: {},
      permissions: NO_PERMISSIONS,
      view: { readOnly: [], readWrite: [], network: false },
    };
    const [first] = await Promise.all([
      executor.open(job, tryHandlers()),
      executor.open(job, tryHandlers()),
    ]);
    await assertRejects(
      () => executor.open(job, tryHandlers()),
      Error,
      "2 children live on already",
    );
    await first!.close();
    await executor.open(job, tryHandlers());
    await executor.shutdown();
  });
});

Deno.test("a session exits when its standard input ends", async () => {
  const folder = await Deno.makeTempDir();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-config", "--no-lock", ENTRY.href],
    clearEnv: true,
    env: { DENO_DIR: folder },
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await child.stdin.close();
  assertEquals((await child.status).code, 3);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("runAsChild() serves a session from a thread with the permissions of its job alone", async () => {
  await withExecutor("off", async ({ folder, executor }) => {
    await Deno.mkdir(`${folder}/a,b`);
    // A comma cannot be spelled in a permission flag, so this path takes the binary's way.
    const socket = `${folder}/a,b/socket`;
    const proxy = new URL("../network/proxy/child.ts", import.meta.url);
    const params = { socket, limits: PROXY_LIMITS };
    const view = { readOnly: [], readWrite: [], network: false };
    const job = { name: "network_proxy", entry: proxy, kind: PROXY_CHILD, params, view };
    const judge = { host: () => ({ addresses: [] }), addresses: () => ({ addresses: [] }) };
    const open = (permissions: ChildPermissions) =>
      executor.open({ ...job, permissions }, {
        calls: judge,
        notices: { unreached: () => {} },
      });
    const refused = { ...NO_PERMISSIONS, read: [`${folder}/a,b/other`] };
    await assertRejects(() => open(refused), Error, "Requires");
    const permissions = {
      ...NO_PERMISSIONS,
      read: [socket],
      write: [socket],
      net: [`unix:${socket}`],
    };
    const session = await open(permissions);
    const connection = await Deno.connect({ transport: "unix", path: socket });
    connection.close();
    await session.close();
    assertEquals(await session.ended, "it was closed");
  });
});
