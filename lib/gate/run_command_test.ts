import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Need, needs } from "../../tests/support/needs.ts";
import { runningCommands } from "../../tests/support/running_commands.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import type { ActionResult } from "../contract/actions.ts";
import { type GateFixture, gateFixture } from "../authority/testing/gate_fixture.ts";

/** A test of commands in the sandbox, through the gate. */
function testSandboxed(
  name: string,
  test: (gate: GateFixture) => Promise<void>,
  { alsoNeeds = [], ...options }: Parameters<typeof gateFixture>[0] & { alsoNeeds?: Need[] } = {},
): void {
  Deno.test({
    ...needs(name, "bubblewrap", ...alsoNeeds),
    async fn() {
      await using gate = await gateFixture(options);
      await test(gate);
    },
  });
}

/** What a shell text printed, without its last line. Fails when it did not run. */
async function sh(gate: GateFixture, command: string): Promise<string> {
  const result = await gate.act("exec", { command });
  assertEquals(result.status, "ok", result.output);
  return result.output.replace(/\n?\[exit code .*\]$/, "");
}

/** Whether a process of this machine has the text in its command line. */
function isRunning(text: string): boolean {
  return runningCommands().some(({ line }) => line.includes(text));
}

function assertRefused(result: ActionResult, words: string): void {
  assertEquals(result.status, "refused", result.output);
  assertStringIncludes(result.output, words);
}

testSandboxed("exec runs a text in the shell and a list as it stands", async (gate) => {
  const shell = await gate.act("exec", { command: "echo $((6 * 7)); echo err >&2; exit 3" });
  assertEquals(shell, { status: "ok", output: "42\nerr\n[exit code 3]" });
  const list = await gate.act("exec", { command: ["printf", "%s", "$HOME; echo x"] });
  assertEquals(list, { status: "ok", output: "$HOME; echo x\n[exit code 0]" });
  const silent = await gate.act("exec", { command: ["true"] });
  assertEquals(silent, { status: "ok", output: "[exit code 0]" });
  const killed = await gate.act("exec", { command: "kill -9 $$" });
  assertEquals(killed, { status: "ok", output: "[exit code 137, ended by SIGKILL]" });
  const kinds = (await gate.records()).map(({ kind }) => kind);
  assertEquals(kinds.filter((kind) => kind === "sandbox.tested").length, 1);
  assertEquals(kinds.filter((kind) => kind === "action.end").length, 4);
});

testSandboxed("exec works in the folder that it names, in the workspace alone", async (gate) => {
  await Deno.mkdir(`${gate.workspace}/sub`);
  await Deno.symlink(gate.root, `${gate.workspace}/out`);
  await Deno.symlink("sub", `${gate.workspace}/in`);
  const at = (cwd: string) => gate.act("exec", { command: ["pwd"], cwd });
  for (const cwd of ["sub", "./in", `${gate.workspace}/sub`, "sub/../in"]) {
    assertEquals((await at(cwd)).output, `${gate.workspace}/sub\n[exit code 0]`);
  }
  for (const cwd of ["out", "..", "/", "/tmp", "none", "sub/../..", "/proc/self/cwd"]) {
    assertRefused(await at(cwd), "cwd: ");
  }
});

testSandboxed("exec names a bad argument", async (gate) => {
  const bad: [unknown, string][] = [
    [{ command: " " }, "is blank"],
    [{ command: [] }, "command"],
    [{ command: [""] }, "names no program"],
    [{ command: "a\0b" }, "NUL"],
    [{ command: "\ud800" }, "surrogate"],
    [{ command: "true", timeout_s: 0 }, "timeout_s"],
    [{ command: "true", timeout_s: 601 }, "timeout_s"],
    [{ command: "true", env: {} }, "env"],
    [{ command: "x".repeat(100_001) }, "command"],
  ];
  for (const [args, words] of bad) {
    const result = await gate.act("exec", args);
    assertEquals(result.status, "failed");
    assertStringIncludes(result.output, words);
  }
  assertRefused(await gate.act("exec", { command: ["no-such-program"] }), "no program");
  await Deno.writeTextFile(`${gate.workspace}/text`, "x", { mode: 0o644 });
  assertRefused(await gate.act("exec", { command: ["./text"] }), "not executable");
  await Deno.writeTextFile(`${gate.workspace}/../out`, "#!/bin/sh\n", { mode: 0o755 });
  assertRefused(await gate.act("exec", { command: ["../out"] }), "neither the system's nor");
});

testSandboxed("exec reads no key by any name", async (gate) => {
  const { workspace } = gate;
  await Deno.mkdir(`${workspace}/.ssh`);
  await Deno.mkdir(`${workspace}/deep/er`, { recursive: true });
  const files = [".env", "deep/er/server.pem", ".ssh/id_rsa", "deep/credentials.json", ".npmrc"];
  for (const name of files) await Deno.writeTextFile(`${workspace}/${name}`, "canary");
  await Deno.link(`${workspace}/.env`, `${workspace}/notes.txt`);
  await Deno.symlink("deep/er/server.pem", `${workspace}/link`);
  await Deno.symlink(".ssh", `${workspace}/folder`);
  const ways = [
    "cat .env deep/er/server.pem .ssh/* deep/credentials.json .npmrc notes.txt link folder/*",
    "grep -r canary . ; tar c . | grep -a canary",
    "mv deep moved; cat moved/er/server.pem; mv .env x; cat x; cp -r . /tmp/copy; cat /tmp/copy/.env",
    "ln .env y; cat y; ln -s .env z; cat z; cat < .env",
    "exec 3<.; cat /proc/self/fd/3/.env; cat /proc/self/cwd/.env /proc/1/cwd/.env /proc/1/root/.env",
    "chmod 777 .env .ssh; cat .env .ssh/id_rsa; rm -rf deep; ls .ssh; umount .env; cat .env",
    `cat ${gate.home}/keys/* ${gate.home}/*; ls ${gate.root}; find / -name '*.key' -not -path '/proc/*'`,
    "cat /etc/shadow /root/.ssh/* /proc/kcore",
  ];
  for (const way of ways) {
    const printed = await sh(gate, `(${way}) 2>/dev/null`);
    assert(!printed.includes("canary"), `${way}: ${printed}`);
  }
  assertEquals(await Deno.readTextFile(`${workspace}/deep/er/server.pem`), "canary");
});

testSandboxed(
  "G17 exec finds no variable and no file of the service, through /proc too",
  async (gate) => {
    const printed = await sh(
      gate,
      "env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' ' '; ls /proc/*/fd/",
    );
    for (const [name, value] of Object.entries(Deno.env.toObject())) {
      if (
        ["HOME", "LANG", "PATH", "TERM", "TMPDIR", "USER", "PWD", "OLDPWD", "SHLVL"].includes(name)
      ) {
        continue;
      }
      assert(!printed.includes(`${name}=${value}`), name);
    }
    // The workspace lies in this home; nothing else of it is named.
    assert(
      !printed.replaceAll(gate.workspace, "").replaceAll(/\S+sandbox-ignore\S*/g, "").includes(
        gate.home,
      ),
    );
    const names = printed.split("\n").filter((line) => /^[A-Z_]+=/.test(line))
      .map((line) => line.slice(0, line.indexOf("=")));
    const known = new Set(["HOME", "LANG", "PATH", "PWD", "TERM", "TMPDIR", "USER", "OLDPWD"]);
    assertEquals(names.filter((name) => !known.has(name)), []);
  },
);

testSandboxed(
  "exec leaves .git/hooks, .git/config, .envrc and AGENTS.md as they are",
  async (gate) => {
    const { workspace } = gate;
    await Deno.mkdir(`${workspace}/.git`);
    await Deno.writeTextFile(`${workspace}/.git/HEAD`, "ref: refs/heads/main\n");
    await Deno.writeTextFile(`${workspace}/.git/config`, "[core]\n");
    await Deno.mkdir(`${workspace}/sub`);
    await Deno.writeTextFile(`${workspace}/sub/AGENTS.md`, "be kind");
    const ways = [
      "echo x > .git/hooks/pre-commit; mkdir -p .git/hooks/x; echo '[core] hooksPath = x' >> .git/config",
      "mv .git old; mkdir .git; mkdir .git/hooks; echo x > .git/hooks/y; mv .git/hooks .git/other",
      "echo x > AGENTS.md; echo x > .envrc; rm AGENTS.md; mv AGENTS.md x; ln -sf /etc/passwd AGENTS.md",
      "echo x > sub/AGENTS.md; mv sub sub2; rm -rf sub; sed -i s/kind/cruel/ sub/AGENTS.md",
      "ln .git/config made; echo x >> made; chmod 777 .git/config; git config core.hooksPath x",
    ];
    for (const way of ways) await sh(gate, `(${way}) 2>&1; true`);
    // What held the place of its hooks is gone as well.
    const inGit = [...Deno.readDirSync(`${workspace}/.git`)].map(({ name }) => name).sort();
    assertEquals(inGit, ["HEAD", "config"]);
    assertEquals(await Deno.readTextFile(`${workspace}/.git/config`), "[core]\n");
    assertEquals(await Deno.readTextFile(`${workspace}/sub/AGENTS.md`), "be kind");
    // What held the places of files that are not there is gone, and other files can be made.
    assertEquals(await sh(gate, "echo made > made; echo x > .git/index; cat made"), "made");
    const names = [...Deno.readDirSync(workspace)].map(({ name }) => name).sort();
    assertEquals(names, [".git", "made", "sub"]);
  },
);

testSandboxed("exec keeps places of files that do not exist out of a repository", async (gate) => {
  const printed = await sh(gate, "git init -q . 2>&1 && echo x > file && git status --porcelain");
  assertEquals(printed, "?? file");
}, { alsoNeeds: ["git"] });

testSandboxed("exec refuses a workspace that it cannot hold, and says why", async (gate) => {
  await Deno.symlink("elsewhere", `${gate.workspace}/AGENTS.md`);
  assertRefused(await gate.act("exec", { command: "true" }), "is a link");
  await Deno.remove(`${gate.workspace}/AGENTS.md`);
});

testSandboxed("exec reaches no network and no socket of the machine", async (gate) => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using unix = Deno.listen({ transport: "unix", path: `${gate.workspace}/socket` });
  const connect = (to: string) =>
    `node -e 'require("net").connect(${to}).on("connect", () => console.log("through")).on("error", () => console.log("none"))'`;
  const { port } = listener.addr as Deno.NetAddr;
  assertEquals(await sh(gate, connect(String(port))), "none");
  assertEquals(await sh(gate, connect('"./socket"')), "none");
  assertEquals(await sh(gate, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"), "lo");
  assertEquals(unix.addr.transport, "unix");
}, { alsoNeeds: ["node"] });

testSandboxed("exec gains no privilege and no namespace", async (gate) => {
  const printed = await sh(
    gate,
    "exec 2>/dev/null; unshare -U true 2>/dev/null && echo userns; mount -t tmpfs x /mnt 2>/dev/null && echo mount; " +
      "su -c id 2>/dev/null </dev/null; chroot / true 2>/dev/null && echo chroot; " +
      "prlimit --nofile=9999:9999 true 2>/dev/null && echo limit; " +
      "(echo x > /usr/x) && echo usr; touch /x 2>/dev/null && echo root; " +
      "kill -9 1; kill -9 -1 2>/dev/null; grep -c NoNewPrivs:.1 /proc/self/status",
  );
  assert(printed === "1" || printed === "", printed);
});

testSandboxed("exec kills whatever a command leaves behind", async (gate) => {
  const mark = `3${Date.now() % 1_000_000}.${Math.floor(Math.random() * 1_000)}`;
  const started = performance.now();
  const printed = await sh(
    gate,
    // A keeper of the pipe, one in a session of its own, a daemon by two forks, one deaf to TERM.
    `sleep ${mark} & setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & ' &) ; ` +
      `(trap '' TERM INT HUP; exec sleep ${mark}) & echo gone`,
  );
  assertEquals(printed, "gone");
  assert(performance.now() - started < 10_000);
  await settle(() => !isRunning(`sleep ${mark}`));
});

testSandboxed("exec ends a command when its time is up, deaf to signals or not", async (gate) => {
  const mark = `4${Date.now() % 1_000_000}`;
  const command =
    `echo begun; trap '' TERM INT; setsid sleep ${mark} & sleep ${mark}; sleep ${mark}`;
  const result = await gate.act("exec", { command, timeout_s: 1 });
  assertEquals(result.status, "failed");
  assertStringIncludes(result.output, "begun\n[ended after 1 s");
  await settle(() => !isRunning(`sleep ${mark}`));
});

testSandboxed("exec ends a command when its turn is cancelled", async (gate) => {
  const mark = `5${Date.now() % 1_000_000}`;
  const controller = new AbortController();
  const running = gate.act("exec", { command: `echo begun; sleep ${mark}` }, {
    signal: controller.signal,
    onProgress: (text) => text.includes("begun") && controller.abort(new Error("cancelled")),
  });
  await assertRejects(() => running, Error, "cancelled");
  await settle(() => !isRunning(`sleep ${mark}`));
  assertEquals((await gate.records()).at(-1)!.data.status, "cut_off");
  assertEquals((await gate.act("exec", { command: "echo on" })).status, "ok");
});

testSandboxed("exec ends a command when the service stops", async (gate) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const running = gate.act("exec", { command: "echo begun; sleep 600" }, {
    onProgress: () => resolve(),
  });
  await promise;
  await gate.actions.shutdown();
  const result = await running;
  assertEquals(result.status, "failed");
  assertStringIncludes(result.output, "the service is stopping");
  assertEquals((await gate.act("exec", { command: "true" })).status, "failed");
});

testSandboxed(
  "G19 exec tells of a sandbox that was killed as a fault, and goes on",
  async (gate) => {
    const mark = `6${Date.now() % 1_000_000}`;
    const result = await gate.act("exec", { command: `echo begun; sleep ${mark}` }, {
      onProgress: () => {
        const found = runningCommands()
          .find(({ line }) => /^\S*bwrap /.test(line) && line.includes(mark));
        Deno.kill(found!.pid, "SIGKILL");
      },
    });
    assertEquals(result.status, "failed");
    assert(result.status === "failed" && result.error.code === "executor_fault", result.output);
    await settle(() => !isRunning(`sleep ${mark}`));
    assertEquals((await gate.act("exec", { command: "echo on" })).output, "on\n[exit code 0]");
  },
);

testSandboxed(
  "exec bounds output: head and tail are kept, endless output is ended",
  async (gate) => {
    const long = await gate.act("exec", { command: "seq 1 200000" });
    assertEquals(long.status, "ok");
    assert(long.output.length <= 4_000);
    assert(long.output.startsWith("1\n2\n"));
    assertStringIncludes(long.output, "bytes cut …]");
    assert(long.output.endsWith("200000\n[exit code 0]"));
    const endless = await gate.act("exec", { command: "yes" });
    assertEquals(endless.status, "failed");
    assertStringIncludes(endless.output, "[ended after it had printed");
    const binary = await gate.act("exec", { command: "printf 'a\\377\\376b'" });
    assertEquals(binary.output, "a\ufffd\ufffdb\n[exit code 0]");
  },
  { maxOutputBytes: 4_000 },
);

testSandboxed("exec holds a fork bomb, and other tools go on", async (gate) => {
  const bomb = gate.act("exec", {
    command: "bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 1; " +
      // Those that ended and nobody has reaped are no load.
      "grep -l '^State:.[^Z]' /proc/[0-9]*/status 2>/dev/null | grep -c .",
    timeout_s: 20,
  });
  const [fork, list] = await Promise.all([bomb, gate.act("list_files", { path: "." })]);
  assertEquals(list.status, "ok");
  const count = /^(\d+)$/m.exec(fork.output)?.[1];
  // Where even the count could not be started, the bomb was held too.
  if (count !== undefined) assert(Number(count) <= 300, fork.output);
}, { alsoNeeds: [FULL_RUN] });

testSandboxed("exec holds a memory bomb", async (gate) => {
  const memory = await gate.act("exec", {
    command: ["/bin/sh", "-c", "x=x; while :; do x=$x$x; done"],
    timeout_s: 60,
  });
  assert(/exit code ([1-9])/.test(memory.output), memory.output);
});

testSandboxed(
  "G21 exec is decided on whole: what is near to what was granted is not it",
  async (gate) => {
    const { workspace } = gate;
    const copy = `${workspace}/ls`;
    await Deno.copyFile("/bin/ls", copy);
    await Deno.chmod(copy, 0o755);
    await gate.act("exec", { command: "echo x | wc" });
    const context = { attended: false };
    const commands: unknown[] = [
      "echo x | wc",
      "echo x | wc ",
      "env wc",
      ["env", "wc"],
      ["wc"],
      "$(echo wc)",
      ["ls"],
      ["./ls"],
      "alias ls=wc; ls",
    ];
    const digests = new Set<unknown>();
    for (const command of commands) {
      assertEquals((await gate.act("exec", { command }, { context })).status, "refused");
      digests.add((await gate.records()).at(-1)!.data.digest);
    }
    assertEquals(digests.size, commands.length);
  },
);

testSandboxed("exec does not follow a folder that was swapped for a link", async (gate) => {
  await Deno.mkdir(`${gate.workspace}/sub`);
  // Each swaps the folder that the other works in.
  const swap = `i=0; while [ $i -lt 200 ]; do i=$((i+1)); mv sub kept && ln -s ${gate.home} sub; ` +
    "rm -f sub; mv kept sub; done; true";
  const swapping = gate.act("exec", { command: swap });
  for (let round = 0; round < 10; round++) {
    const result = await gate.act("exec", { command: "ls keys; cat keys/*", cwd: "sub" });
    assert(!result.output.includes("PRIVATE") && !result.output.includes("audit"), result.output);
  }
  assertEquals((await swapping).status, "ok");
});

Deno.test("G22 exec is refused where there is no sandbox", async () => {
  await using gate = await gateFixture({ sandbox: "off" });
  const result = await gate.act("exec", { command: "echo x > made" });
  assertEquals(result.status, "refused", result.output);
  assertStringIncludes(result.output, "sandbox");
  assertEquals([...Deno.readDirSync(gate.workspace)], []);
});

/** Waits until something is so; the kernel takes a moment to tell that a process has gone. */
async function settle(isSo: () => boolean): Promise<void> {
  const until = performance.now() + 60_000;
  while (!isSo()) {
    assert(performance.now() < until, "it is still there");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
