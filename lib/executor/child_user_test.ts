import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { openNetwork } from "./network/open_network.ts";
import { findChildUser } from "./child_user.ts";
import { NO_PERMISSIONS } from "./command.ts";
import { createCommands } from "./commands.ts";
import { createExecutor } from "./executor.ts";
import { TriedSandboxes } from "./tried_sandboxes.ts";
import { ATTACK_KERNEL, HARMLESS_DEVICES } from "./testing/attack_kernel.ts";

const USER = 54_321;
const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };

Deno.test({
  ...needs("children of root are the user who owns the workspace", "bubblewrap", "root", "perl"),
  async fn() {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const workspace = `${folder}/workspace`;
    await Deno.mkdir(workspace, { mode: 0o700 });
    await Deno.writeTextFile(`${workspace}/of-root`, "root's", { mode: 0o600 });
    await Deno.chown(workspace, USER, USER);
    const executor = createExecutor({ cacheDir: `${folder}/cache`, workspace, log });
    const commands = createCommands({
      config: { maxOutputBytes: 100_000, allowUnconfined: false },
      workspace,
      own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
      scratchDir: `${folder}/run`,
      onTested: () => Promise.resolve(),
      log,
    });
    const run = async (argv: string[], hosts: string[] = []) => {
      const end = await commands.run({ kind: "command", argv, program: argv[0]!, cwd: workspace }, {
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        onProgress: silent,
        openNetwork: hosts.length === 0 ? undefined : () =>
          openNetwork({
            executor,
            audit: { append: () => Promise.reject(new Error("nothing is reached here")) },
            privateHosts: [],
            listeners: () => ({ ports: [], addresses: [] }),
            socketDir: folder,
            log,
          }, { hosts, user: { kind: "mcp", server: "test" } }),
      });
      assert(end.type === "exited", JSON.stringify(end));
      return end.output;
    };
    try {
      const report = await commands.report();
      assert(report.ok, report.reason);
      assertEquals(
        await run(["sh", "-c", "id -u; id -G; cat of-root; echo x > made"]),
        [
          `${USER}\n${USER}\n`,
          "cat: of-root: Permission denied\n",
        ].join(""),
      );
      assertEquals((await Deno.stat(`${workspace}/made`)).uid, USER);
      assertEquals(
        await run(["sh", "-c", "id -u; mkdir -p ~/.config/x /dev/shm/x && echo made"]),
        [
          `${USER}\nmade\n`,
        ].join(""),
      );
      const got = (await run(["perl", "-e", ATTACK_KERNEL])).trim().split("\n").slice(0, -1);
      assertEquals(got.filter((line) => !HARMLESS_DEVICES.test(line.replace("write ", ""))), []);
      // Over the relay and the proxy, which have to reach each other.
      const ask = "use IO::Socket::INET; my ($at) = $ENV{HTTP_PROXY} =~ m{//(.*)}; " +
        'my $s = IO::Socket::INET->new($at) or die "$at: $!"; ' +
        'print $s "CONNECT other.example:443 HTTP/1.1\\r\\n\\r\\n"; print "$> ", scalar <$s>';
      assertStringIncludes(
        await run(["perl", "-e", ask], ["a.example"]),
        `${USER} HTTP/1.1 403 `,
      );
      const tries = [["write", `${workspace}/by-child`], ["read", `${workspace}/of-root`]];
      const outcome = await executor.run({
        task: {
          tool: "try",
          args: { tries },
          target: { kind: "unresolved", what: "", reason: "" },
          workspace,
          maxOutputBytes: 10_000,
        },
        permissions: { ...NO_PERMISSIONS, read: [workspace], write: [workspace] },
        view: { readOnly: [], readWrite: [workspace], network: false },
        timeoutMs: 20_000,
        entry: new URL("./testing/try_child.ts", import.meta.url),
      }, { signal: new AbortController().signal, onProgress: silent });
      assert(outcome.type === "result", JSON.stringify(outcome));
      assertEquals(JSON.parse(outcome.output), [{ ok: null }, { error: "PermissionDenied" }]);
      assertEquals((await Deno.stat(`${workspace}/by-child`)).uid, USER);
    } finally {
      await commands.shutdown();
      await executor.shutdown();
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("findChildUser() leaves children their user where root owns the workspace, or is not here", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { user, reason } = await findChildUser(folder, new TriedSandboxes({ folder }));
    assertEquals(user, undefined);
    assert(/root/.test(reason), reason);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
