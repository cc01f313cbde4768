import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import type { ChildSession, ChildSessionHandlers } from "./child_session.ts";
import { NO_PERMISSIONS } from "./command.ts";
import { createExecutor, type Executor, type SessionJob } from "./executor.ts";
import { PROXY_LIMITS } from "./network/open_network.ts";

const ENTRY = new URL("./testing/session_child.ts", import.meta.url);
const TIMEOUT = { timeoutMs: 20_000 };
interface Setup {
  executor: Executor;
  folder: string;
  /** Warnings of the log. */
  faults: Record<string, unknown>[];
  open(
    handlers?: ChildSessionHandlers,
    more?: Partial<SessionJob>,
    options?: { signal?: AbortSignal },
  ): Promise<ChildSession>;
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
        params: {},
        permissions: NO_PERMISSIONS,
        view: {
          readOnly: [new URL("./testing", import.meta.url).pathname],
          readWrite: [],
          network: false,
        },
        ...more,
      },
      handlers,
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
        sandbox === "auto" && "bubblewrap",
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
  const session = await open({
    onRequest: (method, params) => {
      assertEquals(method, "add");
      const [a, b] = params as [number, number];
      return Promise.resolve(a + b);
    },
  }, { params: { begin: "ask", list: ["ä", { deep: [null] }] } });
  const params = { begin: "ask", list: ["ä", { deep: [null] }] };
  assertEquals(await session.request("params", null, TIMEOUT), params);
  const many = Array.from(
    { length: 60 },
    (_, n) => session.request("ask", ["add", [n, 1]], TIMEOUT),
  );
  assertEquals(await Promise.all(many), Array.from({ length: 60 }, (_, n) => n + 1));
  await assertRejects(() => session.request("fail", "in words", TIMEOUT), Error, "in words");
  await session.close();
  assertEquals(await session.ended, "it was closed");
  await assertRejects(() => session.request("echo", 1, TIMEOUT), Error, "it was closed");
});

testBoth("open() hands a child nothing but its permissions", async ({ open }) => {
  const session = await open();
  for (
    const [method, params] of [["readFile", "/etc/hostname"], ["env", null], ["run", ["/bin/true"]]]
  ) {
    await assertRejects(
      () => session.request(method as string, params, TIMEOUT),
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
  const session = await open({ onNotice: () => aborted[at++]!.resolve() });
  await assertRejects(
    () => session.request("hang", null, { timeoutMs: 100 }),
    Error,
    "no answer within 0.1 s",
  );
  await aborted[0]!.promise;
  const controller = new AbortController();
  const { signal } = controller;
  const asked = session.request("hang", null, { ...TIMEOUT, signal });
  asked.catch(() => {});
  await session.request("echo", 1, TIMEOUT);
  controller.abort(new Error("stop"));
  await assertRejects(() => asked, Error, "stop");
  await aborted[1]!.promise;
  await assertRejects(() => session.request("echo", 1, { ...TIMEOUT, signal }), Error, "stop");
  // Its late answers were nobody's.
  assertEquals(await session.request("echo", "still here", TIMEOUT), "still here");
});

testBoth("request() tells of the child's end, however that comes", async ({ open, faults }) => {
  const ends: [string, unknown, string][] = [
    ["exit", 7, "its process ended with code 7"],
    ["kill", null, "its process was ended by SIGKILL"],
    ["eat", null, "its process ran out of memory"],
    ["sayBytes", [0x7f, 0x7f, 0x7f, 0x7f], "Cannot take a frame of 2139062143 bytes"],
    ["sayBytes", [0, 0, 0, 2, 0x7b, 0x7b], "what it says cannot be understood"],
    ["sayFrame", [1, 2], "it said no known frame"],
    ["sayFrame", { type: "launch" }, "it said no known frame"],
    ["sayFrame", { type: "answer", id: 1.5 }, "it said no known frame"],
    ["sayFrame", { type: "notice", name: "x".repeat(201) }, "it said no known frame"],
    ["sayFrame", { type: "answer", id: 99, result: 1 }, "it answered a request that nobody made"],
    ["sayFrame", { type: "progress", id: 99, text: "" }, "it answered a request that nobody made"],
  ];
  for (const [method, params, expected] of ends) {
    const session = await open();
    const waiting = session.request("deaf", null, TIMEOUT).catch((error) => error);
    const error = await session.request(method, params, TIMEOUT).then(
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

testBoth("a second answer to a request is ignored", async ({ open }) => {
  const session = await open();
  assertEquals(await session.request("echo", 1, TIMEOUT), 1);
  await session.request("sayFrame", { type: "answer", id: 1, result: "again" }, TIMEOUT);
  await session.request("sayFrame", { type: "error", id: 1, message: "again" }, TIMEOUT);
  assertEquals(await session.request("echo", 2, TIMEOUT), 2);
});

testBoth("a number that is asked under twice ends the session", async ({ open }) => {
  const session = await open({ onRequest: () => new Promise(() => {}) });
  const twice = { type: "request", id: 5, method: "wait" };
  await session.request("sayFrame", twice, TIMEOUT);
  session.request("sayFrame", twice, TIMEOUT).catch(() => {});
  assertStringIncludes(await session.ended, "it asked twice under the number 5");
});

testBoth("64 requests are under way at most, in both directions", async ({ open }) => {
  let asked = 0;
  let most = 0;
  const session = await open({
    async onRequest() {
      most = Math.max(most, ++asked);
      await new Promise((resolve) => setTimeout(resolve));
      asked--;
    },
  });
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = Array.from(
    { length: 64 },
    () => session.request("deaf", null, { ...TIMEOUT, signal }),
  );
  await assertRejects(
    () => session.request("echo", 1, TIMEOUT),
    Error,
    "64 requests are under way",
  );
  controller.abort(new Error("enough"));
  await Promise.allSettled(waiting);
  // The child did not heed that: what it may have under way is bounded there too.
  await assertRejects(
    () => session.request("echo", 1, TIMEOUT),
    Error,
    "64 requests are under way",
  );
  const other = await open({
    async onRequest() {
      most = Math.max(most, ++asked);
      await new Promise((resolve) => setTimeout(resolve));
      asked--;
    },
  });
  const statuses = await other.request("askMany", 1_200, TIMEOUT) as string[];
  // 64 under way and 1,024 that wait.
  assertEquals(statuses.filter((status) => status === "fulfilled").length, 1_088);
  assert(most <= 64, String(most));
  // One that does not hold itself to that is told so.
  let taken = 0;
  const rude = await open({ onRequest: () => (taken++, new Promise(() => {})) });
  for (let id = 1; id <= 70; id++) {
    const frame = { type: "request", id, method: "wait" };
    await rude.request("sayFrame", frame, TIMEOUT).catch(() => {});
  }
  // Its own end of the session does not know of that request, and takes the answer for nonsense.
  assertEquals(await rude.ended, "its process ended with code 4");
  assertEquals(taken, 64);
});

testBoth("what the authority throws reaches the child in words", async ({ open }) => {
  const session = await open({
    onRequest: (method) => {
      if (method === "sync") throw new Error("at once");
      return Promise.reject(new Error("later"));
    },
  });
  const ask = (method: string) => session.request("ask", [method, null], TIMEOUT);
  await assertRejects(() => ask("sync"), Error, "at once");
  await assertRejects(() => ask("async"), Error, "later");
  const deaf = await open();
  await assertRejects(() => deaf.request("ask", ["x", 1], TIMEOUT), Error, "nothing can be asked");
});

testBoth("the authority's handler is aborted when the child gives up or ends", async ({ open }) => {
  const aborted: string[] = [];
  const asked = Promise.withResolvers<void>();
  const session = await open({
    onRequest: (_method, _params, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(signal.reason.message);
          reject(signal.reason);
        });
        asked.resolve();
      }),
  });
  const given = await session.request("askAborted", 50, TIMEOUT);
  assertEquals(given, "no answer within 0.05 s");
  session.request("ask", ["wait", null], TIMEOUT).catch(() => {});
  await asked.promise;
  await session.request("echo", 1, TIMEOUT);
  await session.close();
  assertEquals(aborted, ["cancelled", "it was closed"]);
});

testBoth("progress comes while a request is answered, and is bounded", async ({ open }) => {
  const session = await open();
  const seen: string[] = [];
  const onProgress = (text: string) => seen.push(text);
  assertEquals(await session.request("progress", 3, { ...TIMEOUT, onProgress }), "done");
  assertEquals(seen, ["step 0", "step 1", "step 2"]);
  seen.length = 0;
  assertEquals(await session.request("progress", 12_000, { ...TIMEOUT, onProgress }), "done");
  assertEquals(seen.length, 10_000);
});

testBoth(
  "a frame of 16 MiB passes, a larger one is an error of its request alone",
  async (setup) => {
    const session = await setup.open();
    const MIB = 1024 * 1024;
    const large = await session.request("large", 15 * MIB, TIMEOUT) as string;
    assertEquals(large.length, 15 * MIB);
    await assertRejects(() => session.request("large", 16 * MIB, TIMEOUT), Error, "the limit is");
    await assertRejects(
      () => session.request("echo", "x".repeat(16 * MIB), TIMEOUT),
      RangeError,
      "the limit is",
    );
    assertEquals(
      await session.request("echo", "x".repeat(15 * MIB), TIMEOUT).then(String),
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
    const flooding = await open({ onNotice: () => ++notices === 20_000 && enough.resolve() });
    const other = await open();
    flooding.request("flood", null, TIMEOUT).catch(() => {});
    const before = Deno.memoryUsage().rss;
    let longestMs = 0;
    let answers = 0;
    let done = false;
    enough.promise.then(() => done = true);
    while (!done) {
      const start = performance.now();
      assertEquals(await other.request("echo", answers, TIMEOUT), answers++);
      longestMs = Math.max(longestMs, performance.now() - start);
    }
    assert(answers > 100, `${answers} answers`);
    assert(longestMs < 1_000, `${longestMs} ms`);
    const grown = (Deno.memoryUsage().rss - before) / 1024 / 1024;
    assert(grown < 150, `${grown} MiB`);
    await flooding.close();
  },
);

testBoth(
  "a child that does not read is ended before what waits for it fills memory",
  async (setup) => {
    const session = await setup.open();
    const spinning = session.request("spin", null, TIMEOUT).catch((error) => error);
    const MIB = 1024 * 1024;
    const large = () =>
      session.request("echo", "x".repeat(12 * MIB), TIMEOUT).catch((error) => error);
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
  session.request("spin", null, TIMEOUT).catch(() => {});
  await session.close();
  await session.close();
  assertEquals(findProcesses(marker), []);
});

testBoth("shutdown() ends every session with its reason, and lets none begin", async (setup) => {
  const { open, executor, faults } = setup;
  const sessions = await Promise.all([open(), open()]);
  assertEquals(executor.counts(), { running: 0, waiting: 0, sessions: 2 });
  const asked = sessions.map((session) =>
    session.request("deaf", null, TIMEOUT).catch((e) => e.message)
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
    const job: SessionJob = {
      name: "try",
      entry: ENTRY,
      params: {},
      permissions: NO_PERMISSIONS,
      view: { readOnly: [], readWrite: [], network: false },
    };
    const [first] = await Promise.all([executor.open(job, {}), executor.open(job, {})]);
    await assertRejects(() => executor.open(job, {}), Error, "2 children live on already");
    await first!.close();
    await executor.open(job, {});
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
  await withExecutor("off", async ({ folder, open }) => {
    await Deno.mkdir(`${folder}/a,b`);
    // A comma cannot be spelled in a permission flag, so this path takes the binary's way.
    const socket = `${folder}/a,b/socket`;
    const proxy = new URL("../network/proxy/child.ts", import.meta.url);
    const params = { socket, limits: PROXY_LIMITS };
    const job = { name: "network_proxy", entry: proxy, params };
    const refused = { ...NO_PERMISSIONS, read: [`${folder}/a,b/other`] };
    await assertRejects(() => open({}, { ...job, permissions: refused }), Error, "Requires");
    const permissions = {
      ...NO_PERMISSIONS,
      read: [socket],
      write: [socket],
      net: [`unix:${socket}`],
    };
    const session = await open({}, { ...job, permissions });
    const connection = await Deno.connect({ transport: "unix", path: socket });
    connection.close();
    await session.close();
    assertEquals(await session.ended, "it was closed");
  });
});
