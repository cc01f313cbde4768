import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname } from "@std/path";
import { needs, programPath } from "../../tests/support/needs.ts";
import type { CommandTarget } from "../contract/actions.ts";
import { commandSandbox } from "./command_sandbox.ts";
import { type CommandOutcome, type Commands, createCommands } from "./commands.ts";
import { kernelProbeMounts } from "./kernel_probe.ts";
import { runSandbox } from "./testing/run_sandbox.ts";
import { type SandboxReport, testSandbox } from "./test_sandbox.ts";

const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };

interface Setup {
  commands: Commands;
  workspace: string;
  warnings: string[];
  reports: SandboxReport[];
  sh(text: string, timeoutMs?: number): Promise<CommandOutcome>;
}

async function withCommands(
  options: Partial<Parameters<typeof createCommands>[0]>,
  test: (setup: Setup) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const workspace = `${folder}/workspace`;
  await Deno.mkdir(workspace);
  const warnings: string[] = [];
  const reports: SandboxReport[] = [];
  const commands = createCommands({
    config: { maxOutputBytes: 10_000, allowUnconfined: false },
    workspace,
    own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
    scratchDir: `${folder}/run`,
    onTested: (report) => Promise.resolve(reports.push(report)),
    log: { ...log, warning: (message) => warnings.push(message) },
    ...options,
  });
  try {
    await test({
      commands,
      workspace,
      warnings,
      reports,
      sh(text, timeoutMs = 10_000) {
        const argv = ["/bin/sh", "-c", text];
        const target: CommandTarget = { kind: "command", argv, program: "/bin/sh", cwd: workspace };
        const signal = new AbortController().signal;
        return commands.run(target, { timeoutMs, signal, onProgress: silent });
      },
    });
  } finally {
    await commands.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

const UNCONFINED = { config: { maxOutputBytes: 10_000, allowUnconfined: true } };

Deno.test("G22 run() refuses without a sandbox, and runs without one only where that is allowed", async () => {
  await withCommands({ sandbox: "off" }, async ({ commands, sh, workspace, warnings, reports }) => {
    assertEquals((await sh("echo x > made")).type, "refused");
    assertEquals([...Deno.readDirSync(workspace)], []);
    assertEquals((await commands.mode()).mode, "off");
    assertEquals([warnings.length, reports.length, reports[0]!.ok], [1, 1, false]);
    assertStringIncludes(warnings[0]!, "off");
  });
  await withCommands({ ...UNCONFINED, sandbox: "off" }, async ({ commands, sh, warnings }) => {
    assertEquals((await commands.mode()).mode, "unconfined");
    assertStringIncludes(warnings[0]!, "WITHOUT a sandbox");
    const end = await sh("echo made > made; cat made; env; exit 4");
    assert(end.type === "exited" && end.code === 4, JSON.stringify(end));
    assertMatch(end.output, /^made\n/);
    const names = end.output.split("\n").slice(1, -1).map((line) => line.split("=")[0]!);
    const known = ["HOME", "LANG", "PATH", "PWD", "TERM", "TMPDIR", "USER", "OLDPWD", "_", "SHLVL"];
    assertEquals(names.filter((name) => !known.includes(name)), []);
    const killed = await sh("kill -9 $$");
    assertEquals(killed.type === "exited" && killed.signal, "SIGKILL");
  });
});

Deno.test("run() without a sandbox ends a command's group, and waits for no keeper of its pipe", async () => {
  await withCommands({ ...UNCONFINED, sandbox: "off" }, async ({ sh }) => {
    const end = await sh("trap '' TERM; echo begun; sleep 60 & sleep 60", 300);
    assert(end.type === "timeout" && end.output === "begun\n", JSON.stringify(end));
    const started = performance.now();
    // It leaves the group, and holds the pipe for longer than anybody waits.
    const kept = await sh("setsid sleep 25 & echo done");
    assert(kept.type === "exited" && kept.output === "done\n", JSON.stringify(kept));
    assert(performance.now() - started < 20_000);
  });
});

Deno.test({
  ...needs(
    "mode() warns a service of root whose commands nothing holds to a number of processes",
    "bubblewrap",
    "root",
  ),
  async fn() {
    const controlGroups = () => Promise.resolve(undefined);
    await withCommands({ controlGroups }, async ({ commands, warnings }) => {
      assertEquals((await commands.mode()).mode, "sandboxed");
      assertEquals(warnings.length, 1);
      assertStringIncludes(warnings[0]!, "Nothing bounds how many processes");
    });
  },
});

Deno.test({
  ...needs("run() bounds what runs and waits at once", "bubblewrap"),
  async fn() {
    await withCommands({ maxRunning: 1, maxWaiting: 1 }, async ({ commands, sh }) => {
      await commands.mode();
      const ends = await Promise.all([sh("sleep 0.2"), sh("true"), sh("true")]);
      assertEquals(ends.map(({ type }) => type), ["exited", "exited", "fault"]);
      assertEquals(commands.counts(), { running: 0, waiting: 0, sessions: 0 });
    });
  },
});

Deno.test({
  ...needs("run() runs nothing when what the sandbox has shown cannot be recorded", "bubblewrap"),
  async fn() {
    const onTested = () => Promise.reject(new Error("the disk is full"));
    await withCommands({ onTested }, async ({ sh, workspace }) => {
      const end = await sh("echo x > made");
      assert(end.type === "fault" && end.message.includes("the disk is full"), JSON.stringify(end));
      assertEquals([...Deno.readDirSync(workspace)], []);
    });
  },
});

Deno.test({
  ...needs("run() in many at once leaves no place that it held", "bubblewrap"),
  async fn() {
    await withCommands({}, async ({ sh, workspace }) => {
      const ends = await Promise.all(
        Array.from({ length: 8 }, (_, at) => sh(`echo ${at} > f${at}`)),
      );
      assertEquals(ends.map((end) => end.type === "exited" && end.code), Array(8).fill(0));
      const names = [...Deno.readDirSync(workspace)].map(({ name }) => name).sort();
      assertEquals(names, Array.from({ length: 8 }, (_, at) => `f${at}`));
    });
  },
});

Deno.test({
  ...needs("testSandbox() finds open what a sandbox with holes does not hold", "bubblewrap"),
  async fn() {
    const scratchDir = await Deno.realPath(await Deno.makeTempDir());
    try {
      const report = await testSandbox({
        scratchDir,
        // Everything of the machine but the right to write to it, and nothing of its own.
        run: async (workspace, script, args) => {
          const { code, stdout } = await new Deno.Command(programPath("bubblewrap"), {
            args: [
              ...[
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--bind",
                scratchDir,
                scratchDir,
                "--chdir",
                workspace,
              ],
              ...["--", "/bin/sh", "-c", script, "sh", ...args],
            ],
            env: { PATH: "/usr/bin:/bin" },
            stderr: "null",
          }).output();
          return { type: "exited", code, signal: null, output: new TextDecoder().decode(stdout) };
        },
      });
      assertEquals(report.ok, false);
      const open = report.trials.filter(({ held }) => !held).map(({ name }) => name);
      const expected = ["read_outside", "write_outside", "read_credentials", "write_hooks"];
      for (const name of [...expected, "network", "processes", "environment"]) {
        assert(open.includes(name), `${name} of ${open}`);
      }
    } finally {
      await Deno.remove(scratchDir, { recursive: true });
    }
  },
});

Deno.test({
  ...needs("testSandbox() takes a workspace below /var/lib for no secret", "bubblewrap", "root"),
  async fn() {
    const scratchDir = await Deno.makeTempDir({ dir: "/var/lib" });
    try {
      const report = await testSandbox({
        scratchDir,
        async run(workspace, script, asked) {
          const mounts = await kernelProbeMounts();
          const view = { workspace, cwd: workspace, guards: [], mounts };
          const { open, args } = await commandSandbox(view);
          const shell = ["/bin/sh", "-c", script, "sh", ...asked];
          const { code, stdout } = await runSandbox({ open, args: [...args, ...shell] });
          return { type: "exited", code, signal: null, output: stdout };
        },
      });
      const { held, detail } = report.trials.find(({ name }) => name === "read_secrets")!;
      assert(held, detail);
    } finally {
      await Deno.remove(scratchDir, { recursive: true });
    }
  },
});

Deno.test({
  ...needs("testSandbox() finds what a sandbox lets through to the kernel", "bubblewrap"),
  async fn() {
    const scratchDir = await Deno.realPath(await Deno.makeTempDir());
    /** What is open in a sandbox that lacks an option and its value. */
    async function openWithout(option: string, value: string): Promise<string[]> {
      const { trials } = await testSandbox({
        scratchDir,
        async run(workspace, script, asked) {
          const mounts = await kernelProbeMounts();
          const view = { workspace, cwd: workspace, guards: [], mounts };
          const { open, args } = await commandSandbox(view);
          const at = args.findIndex((arg, at) => arg === option && args[at + 1] === value);
          const lacking = at < 0 ? args : args.toSpliced(at, 2);
          const shell = ["/bin/sh", "-c", script, "sh", ...asked];
          const { code, stdout } = await runSandbox({ open, args: [...lacking, ...shell] });
          return { type: "exited", code, signal: null, output: stdout };
        },
      });
      return trials.filter(({ held }) => !held).map(({ name }) => name);
    }
    try {
      // Without the guards of a workspace.
      const usual = await openWithout("nothing", "");
      const more = async (option: string, value: string) =>
        (await openWithout(option, value)).filter((name) => !usual.includes(name));
      assertEquals(await more("--remount-ro", "/proc"), ["kernel_files"]);
      // Nobody closes the filter's own file then.
      assertEquals(await more("--seccomp", "9"), ["open_files", "setuid", "kernel_calls"]);
    } finally {
      await Deno.remove(scratchDir, { recursive: true });
    }
  },
});

Deno.test("testSandbox() takes a missing answer for none, and a fault for no sandbox", async () => {
  const scratchDir = await Deno.realPath(await Deno.makeTempDir());
  try {
    const mute = await testSandbox({
      scratchDir,
      run: () => Promise.resolve({ type: "exited", code: 0, signal: null, output: "" }),
    });
    assertEquals([mute.ok, mute.trials.every(({ held }) => !held)], [false, true]);
    const fault = await testSandbox({
      scratchDir,
      run: () => Promise.resolve({ type: "fault", message: "it broke" }),
    });
    assertEquals([fault.ok, fault.reason], [false, "it broke"]);
    assertEquals([...Deno.readDirSync(scratchDir)], []);
  } finally {
    await Deno.remove(scratchDir, { recursive: true });
  }
});

Deno.test({
  ...needs(
    "run() ends a command when a file that is held back from it is replaced, and shows no output",
    "bubblewrap",
  ),
  async fn() {
    await withCommands({}, async ({ commands, workspace, warnings }) => {
      await Deno.writeTextFile(`${workspace}/.env`, "KEY=first");
      const argv = [
        "/bin/sh",
        "-c",
        "echo begun; until cat .env 2> /dev/null; do :; done; sleep 60",
      ];
      const target: CommandTarget = { kind: "command", argv, program: "/bin/sh", cwd: workspace };
      const begun = Promise.withResolvers<void>();
      const running = commands.run(target, {
        timeoutMs: 50_000,
        signal: new AbortController().signal,
        onProgress: () => begun.resolve(),
      });
      await begun.promise;
      // As editors and git write.
      await Deno.writeTextFile(`${workspace}/.env.new`, "KEY=second");
      await Deno.rename(`${workspace}/.env.new`, `${workspace}/.env`);
      const end = await running;
      assert(end.type === "fault", JSON.stringify(end));
      assertStringIncludes(
        end.message,
        `"${workspace}/.env", which is held back from commands, was`,
      );
      assertEquals(warnings.length, 1);
    });
  },
});

Deno.test({
  ...needs("run() puts aside what a command left whose service was killed", "bubblewrap", "git"),
  async fn() {
    await withCommands({}, async ({ workspace, sh, warnings }) => {
      await new Deno.Command("git", { args: ["init", "-q", "old"], cwd: workspace }).output();
      const killed = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-A", "--cached-only", "--no-check", "--lock=deno.lock", "--frozen"],
          new URL("./testing/run_and_wait.ts", import.meta.url).pathname,
          dirname(workspace),
          "mkdir sub; echo x > sub/.envrc; cp -r old new; git -C new config core.pager x",
        ],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const reader = killed.stdout.getReader();
      assertEquals((await reader.read()).done, false);
      killed.kill("SIGKILL");
      await killed.status;
      await reader.cancel();
      const end = await sh("ls -A sub; ls -A new/.git old/.git | grep -c held");
      assert(end.type === "exited", JSON.stringify(end));
      assertEquals(end.output, ".envrc.held\n1\n");
      assertEquals(warnings.length, 1);
      const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);
      assertEquals(
        names(`${dirname(workspace)}/run`).filter((name) => /^unsettled/.test(name)),
        [],
      );
      // Neither does what held places of the repository stay.
      const left = names(`${workspace}/old/.git`).filter((name) => name === "commondir");
      assertEquals(left, []);
    });
  },
});
