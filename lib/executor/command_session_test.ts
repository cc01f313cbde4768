import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { until } from "../../tests/support/process_facts.ts";
import type { CommandTarget } from "../contract/actions.ts";
import type { ChildSession } from "./child_session.ts";
import { NO_PERMISSIONS } from "./command.ts";
import type { CommandSessionJob } from "./command_session.ts";
import { type Commands, createCommands } from "./commands.ts";
import { TRY_SESSION, tryHandlers } from "./testing/session_kind.ts";
import { testOnce } from "./testing/test_once.ts";

const TIMEOUT = { timeoutMs: 20_000 };
const ENTRY = new URL("./testing/session_child.ts", import.meta.url);
const silent = () => {};

type Session = ChildSession<typeof TRY_SESSION.child>;
type TryJob = CommandSessionJob<typeof TRY_SESSION.authority, typeof TRY_SESSION.child>;

interface Setup {
  commands: Commands;
  /** Of the test; the workspace is in it. */
  folder: string;
  workspace: string;
  warnings: string[];
  open(
    more?: Partial<TryJob>,
    options?: { signal?: AbortSignal },
  ): Promise<Session>;
}

async function withCommands(
  options: Partial<Parameters<typeof createCommands>[0]>,
  test: (setup: Setup) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const workspace = `${folder}/workspace`;
  await Deno.mkdir(workspace);
  await Deno.mkdir(`${folder}/own`);
  await Deno.writeTextFile(`${folder}/own/key`, "key of the service");
  const warnings: string[] = [];
  const warning = (message: string) => void warnings.push(message);
  const commands = createCommands({
    config: { maxOutputBytes: 10_000, allowUnconfined: false },
    workspace,
    own: () => Promise.resolve({ ownPaths: [`${folder}/own`], sourcePaths: [] }),
    scratchDir: `${folder}/run`,
    onTested: () => Promise.resolve(),
    testSandbox: testOnce,
    log: { debug: silent, info: silent, warning, error: silent },
    ...options,
  });
  const open: Setup["open"] = (more = {}, options) =>
    commands.open(
      {
        name: "try",
        entry: ENTRY,
        kind: TRY_SESSION,
        params: {},
        permissions: { ...NO_PERMISSIONS, read: ["/"], write: ["/"], run: ["/bin/sh"] },
        sources: [],
        readOnly: [],
        readWrite: [],
        cwd: workspace,
        ...more,
      },
      tryHandlers(),
      options,
    );
  try {
    await test({ commands, folder, workspace, warnings, open });
  } finally {
    await commands.shutdown();
    assertEquals(commands.counts().sessions, 0);
    await Deno.remove(folder, { recursive: true });
  }
}

/** With a sandbox, or not at all. */
function testConfined(name: string, test: (setup: Setup) => Promise<void>): void {
  Deno.test({ ...needs(name, "bubblewrap"), fn: () => withCommands({}, test) });
}

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

const sh = (session: Session, text: string) =>
  session.call("run", ["/bin/sh", "-c", text], TIMEOUT) as Promise<Ran>;

/** Processes of this machine whose command line holds a text. */
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

testConfined(
  "open() starts a child in the wall of commands, with what it starts",
  async (setup) => {
    const { folder, workspace, open } = setup;
    await Deno.writeTextFile(`${workspace}/.env`, "KEY=secret");
    await Deno.writeTextFile(`${workspace}/notes.md`, "notes");
    const session = await open();
    assertEquals(await session.call("readFile", `${workspace}/notes.md`, TIMEOUT), "notes");
    assertEquals(
      (await sh(session, "pwd; cat notes.md; echo made > made")).stdout,
      `${workspace}\nnotes`,
    );
    assertEquals(await Deno.readTextFile(`${workspace}/made`), "made\n");
    for (const path of [`${workspace}/.env`, `${folder}/own/key`, "/etc/shadow"]) {
      await assertRejects(() => session.call("readFile", path, TIMEOUT), Error);
      assertEquals((await sh(session, `cat ${path}`)).stdout, "");
    }
    for (const path of [`${workspace}/AGENTS.md`, "/usr/x", `${folder}/outside`]) {
      await sh(session, `echo x > ${path}`);
    }
    assertEquals(await Deno.lstat(`${folder}/outside`).catch(() => "none"), "none");
    assertEquals(await Deno.readTextFile(`${workspace}/AGENTS.md`), "");
    // Deno's wall stands in the other one.
    await assertRejects(() => session.call("run", ["/bin/ls"], TIMEOUT), Error, "run access");
    await session.close();
    // What stood for a file that it may not make is gone with it.
    assertEquals(await Deno.lstat(`${workspace}/AGENTS.md`).catch(() => "none"), "none");
  },
);

testConfined("open() gives it paths of its own, and none that it must not have", async (setup) => {
  const { folder, workspace, open } = setup;
  for (const name of ["in", "out", "out/deep"]) await Deno.mkdir(`${folder}/${name}`);
  await Deno.writeTextFile(`${folder}/in/a`, "a");
  await Deno.symlink(`${folder}/own`, `${folder}/link`);
  const session = await open({ readOnly: [`${folder}/in`], readWrite: [`${folder}/out`] });
  assertEquals(
    (await sh(session, `cat ${folder}/in/a; echo b > ${folder}/out/b; echo c > ${folder}/in/c`))
      .stdout,
    "a",
  );
  assertEquals(await Deno.readTextFile(`${folder}/out/b`), "b\n");
  assertEquals(await Deno.lstat(`${folder}/in/c`).catch(() => "none"), "none");

  const refused: [Partial<TryJob>, string][] = [
    [{ readOnly: [`${folder}/none`] }, "which it is to be given, is not there"],
    [{ readOnly: [`${folder}/own`] }, "the service's own files are there"],
    [{ readOnly: [`${folder}/own/key`] }, "the service's own files are there"],
    [{ readOnly: [`${folder}/link`] }, "the service's own files are there"],
    [{ readWrite: [folder] }, "it and the workspace lie in each other"],
    [{ readOnly: [workspace] }, "it and the workspace lie in each other"],
    [{ readOnly: ["/proc/self"] }, "/proc is never given"],
    [{ readOnly: ["/dev"] }, "/dev is never given"],
    [{ readOnly: [`${folder}/out/deep`], readWrite: [`${folder}/out`] }, "which it may write to"],
  ];
  for (const [more, expected] of refused) {
    await assertRejects(() => open(more), Error, expected);
  }
});

testConfined("open() passes values in the environment, and no argv holds one", async (setup) => {
  const { open } = setup;
  const value = `s3cret "$(id)" \`id\` ${crypto.randomUUID()}\nsecond line`;
  const session = await open({ env: { TOKEN: value, HOME: "/elsewhere" } });
  assertEquals((await sh(session, 'printf %s "$TOKEN"')).stdout, value);
  assertEquals((await sh(session, "echo $HOME $SERVICE_GIVEN_TOKEN")).stdout, "/elsewhere\n");
  assertEquals(findProcesses(value), []);
  await assertRejects(() => open({ env: { "A B": "x" } }), Error, '"A B" is no name of a variable');
  await assertRejects(() => open({ env: { "A;id": "x" } }), Error, "is no name of a variable");
  await assertRejects(() => open({ env: { A: "x\0y" } }), Error, "the variable A holds a NUL");
});

testConfined("run() gives a command variables under their names alone", async (setup) => {
  const { commands, workspace } = setup;
  const run = (text: string, env: Record<string, string>) => {
    const argv = ["/bin/sh", "-c", text];
    const target: CommandTarget = { kind: "command", argv, program: "/bin/sh", cwd: workspace };
    const signal = new AbortController().signal;
    return commands.run(target, { timeoutMs: 10_000, signal, onProgress: silent, env });
  };
  const marker = crypto.randomUUID();
  // By a file: grep's own argv would hold it otherwise.
  const look = 'printf %s "$A_KEY" > k; cat k; cat /proc/*/cmdline | grep -c -f k; env';
  // A name that would mean something to the programs outside of the sandbox.
  const end = await run(look, { A_KEY: marker, LD_PRELOAD: "/none.so" });
  assert(end.type === "exited", JSON.stringify(end));
  assertStringIncludes(end.output.replaceAll(/ERROR: ld.so.*\n/g, ""), `${marker}0\n`);
  assert(!/SERVICE_GIVEN/.test(end.output), end.output);
  assertEquals((await run("true", { "a-b": "x" })).type, "fault");
});

testConfined("close() and a child's end leave nothing of what it started", async (setup) => {
  const { open } = setup;
  const first = await open();
  const marker = `4${String(Math.random()).slice(2, 10)}`;
  const daemon =
    `(setsid sleep ${marker} > /dev/null 2>&1 &); (setsid sleep ${marker} &) > /dev/null 2>&1`;
  await sh(first, daemon);
  assert(findProcesses(marker).length > 0);
  await first.close();
  await goneFrom(marker);

  const second = await open();
  await sh(second, daemon);
  await second.call("exit", 3, TIMEOUT).catch(() => {});
  assertEquals(await second.ended, "its process ended with code 3");
  await goneFrom(marker);
});

/** The kernel ends what was killed a moment after it was told to. */
function goneFrom(marker: string): Promise<void> {
  return until(() => findProcesses(marker).length === 0, 10_000);
}

testConfined("a session has no time limit but those of memory and processes", async (setup) => {
  const { open } = setup;
  const session = await open();
  const { stdout } = await sh(session, "ulimit -t; ulimit -n; ulimit -c");
  assertEquals(stdout, "unlimited\n1024\n0\n");
  await assertRejects(() => session.call("eat", null, TIMEOUT), Error, "ran out of memory");
});

testConfined(
  "a file that is held back ends the session when somebody replaces it",
  async (setup) => {
    const { open, workspace, warnings } = setup;
    await Deno.writeTextFile(`${workspace}/.env`, "KEY=first");
    const session = await open();
    await Deno.writeTextFile(`${workspace}/.new`, "KEY=second");
    await Deno.rename(`${workspace}/.new`, `${workspace}/.env`);
    assertStringIncludes(
      await session.ended,
      `"${workspace}/.env", which is held back from commands`,
    );
    assertEquals(warnings.length, 1);
  },
);

testConfined(
  "open() tells why a child does not start, and takes none when it stops",
  async (setup) => {
    const { open, commands } = setup;
    await assertRejects(() => open({ params: { begin: "throw" } }), Error, "cannot begin: no");
    await assertRejects(() => open({ cwd: "/nowhere" }), Error, "/nowhere");
    const controller = new AbortController();
    const { signal } = controller;
    const opening = open({ params: { begin: "hang" } }, { signal });
    opening.catch(() => {});
    controller.abort(new Error("never mind"));
    await assertRejects(() => opening, Error, "never mind");
    assertEquals(commands.counts(), { running: 0, waiting: 0, sessions: 0 });
    const session = await open();
    const starting = open({ params: { begin: "hang" } }).catch((error) => error.message);
    await commands.shutdown();
    assertEquals(await session.ended, "the service is stopping");
    assertEquals(await starting, "the service is stopping");
    await assertRejects(() => open(), Error, "the service is stopping");
  },
);

Deno.test({
  ...needs("sessions take no place of a command, and are bounded themselves", "bubblewrap"),
  async fn() {
    await withCommands({ maxSessions: 2, maxRunning: 1 }, async ({ open, commands, workspace }) => {
      const [first] = await Promise.all([open(), open()]);
      await assertRejects(() => open(), Error, "2 programs live on already");
      const target: CommandTarget = {
        kind: "command",
        argv: ["/bin/echo", "hi"],
        program: "/bin/echo",
        cwd: workspace,
      };
      const { signal } = new AbortController();
      const end = await commands.run(target, { timeoutMs: 10_000, signal, onProgress: silent });
      assertEquals(end.type, "exited");
      await first!.close();
      assertEquals(await (await open()).call("echo", 1, TIMEOUT), 1);
    });
  },
});

Deno.test("open() refuses without a sandbox, and starts without one only where that is allowed", async () => {
  await withCommands({ sandbox: "off" }, async ({ open }) => {
    await assertRejects(() => open(), Error, "it has no sandbox");
  });
  const config = { maxOutputBytes: 10_000, allowUnconfined: true };
  await withCommands({ sandbox: "off", config }, async ({ open, workspace }) => {
    const session = await open({ env: { TOKEN: "value" } });
    assertEquals(
      (await sh(session, "pwd; echo $TOKEN $HOME")).stdout,
      `${workspace}\nvalue /tmp\n`,
    );
  });
});

Deno.test({
  ...needs(
    "a key that comes into the workspace ends a session, and nothing else does",
    "bubblewrap",
  ),
  async fn() {
    await withCommands({ lookAgainMs: 20 }, async ({ open, workspace, warnings }) => {
      const session = await open();
      await Deno.mkdir(`${workspace}/src`);
      await Deno.writeTextFile(`${workspace}/src/main.ts`, "");
      await sh(session, "mkdir more; echo x > more/file; sleep 0.2");
      assertEquals(await session.call("echo", 1, TIMEOUT), 1);
      await Deno.writeTextFile(`${workspace}/src/.env`, "KEY=new");
      assertEquals(
        await session.ended,
        `"${workspace}/src/.env", which is held back from commands, came into the workspace`,
      );
      assertEquals(warnings, []);
      const next = await open();
      await assertRejects(() => next.call("readFile", `${workspace}/src/.env`, TIMEOUT), Error);
    });
  },
});
