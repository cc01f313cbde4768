import { assert, assertEquals } from "@std/assert";
import { needs } from "../../../tests/support/needs.ts";
import { type CommandRun, type Commands, createCommands } from "../commands.ts";
import { createExecutor } from "../executor.ts";
import { openNetwork } from "./open_network.ts";
import { testOnce } from "../testing/test_once.ts";

const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };

type Sh = (text: string, run?: Partial<CommandRun>) => ReturnType<Commands["run"]>;

/** Commands with a network that leads to `a.example`, and how many networks were open at once. */
async function withCommands(
  options: Partial<Parameters<typeof createCommands>[0]>,
  test: (sh: Sh, opened: { now: number; most: number }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const workspace = `${folder}/workspace`;
  await Deno.mkdir(workspace);
  await Deno.mkdir(`${folder}/run`);
  const executor = createExecutor({ cacheDir: `${folder}/run/cache`, log });
  const commands = createCommands({
    config: { maxOutputBytes: 10_000, allowUnconfined: false },
    workspace,
    own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
    scratchDir: `${folder}/run`,
    onTested: () => Promise.resolve(),
    testSandbox: testOnce,
    log,
    ...options,
  });
  const opened = { now: 0, most: 0 };
  async function open(signal: AbortSignal) {
    opened.most = Math.max(opened.most, ++opened.now);
    const network = await openNetwork({
      executor,
      audit: { append: () => Promise.resolve({} as never) },
      privateHosts: [],
      listeners: () => ({ ports: [], addresses: [] }),
      socketDir: `${folder}/run`,
      log,
    }, { hosts: ["a.example"], user: { kind: "mcp", server: "s" }, signal });
    return {
      socket: network.socket,
      async close() {
        await network.close();
        opened.now--;
      },
    };
  }
  try {
    await test((text, run = {}) => {
      const argv = ["/bin/sh", "-c", text];
      return commands.run({ kind: "command", argv, program: "/bin/sh", cwd: workspace }, {
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        onProgress: silent,
        openNetwork: open,
        ...run,
      });
    }, opened);
  } finally {
    await commands.shutdown();
    await executor.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

function testSandboxed(name: string, fn: () => Promise<void>): void {
  Deno.test({ ...needs(name, "bubblewrap"), fn });
}

testSandboxed("a command with hosts has no more rights than one without", async () => {
  await withCommands({}, async (sh) => {
    const end = await sh(
      `grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000
       grep NoNewPrivs /proc/self/status | tr -d '\\t'
       unshare -U true 2> /dev/null || echo no namespace
       (echo 1 > /proc/sys/net/ipv4/ip_forward) 2> /dev/null || echo no sysctl
       for path in /etc/hosts /run/x /run/network/x /run/network/program /run/network/source/x \\
         /run/network/source/relay/child.ts /run/network/proxy/x /run/network/proxy/relay.json; do
         (echo x >> $path) 2> /dev/null && echo $path
       done
       tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '
       tail -n +2 /proc/net/route
       ls /proc/self/fd | tr '\\n' ' '`,
    );
    assert(end.type === "exited", JSON.stringify(end));
    assertEquals(
      end.output,
      "NoNewPrivs:1\nno namespace\nno sysctl\nlo\n0 1 2 3 ",
    );
  });
});

testSandboxed("a command's own limits are not spent on the relay of its network", async () => {
  const config = {
    maxOutputBytes: 10_000,
    allowUnconfined: false,
    maxProcesses: 8,
    maxMemoryMiB: 64,
  };
  await withCommands({ config }, async (sh) => {
    const end = await sh(
      "curl -sS -m 5 http://b.example/; for n in 1 2 3; do sleep 0.1 & done; wait",
    );
    assert(end.type === "exited" && end.code === 0, JSON.stringify(end));
    assert(end.output.includes("rule network.unlisted"), end.output);
  });
});

testSandboxed("commands that wait for a place hold no network, and none is left", async () => {
  await withCommands({ maxRunning: 1 }, async (sh, opened) => {
    const ends = await Promise.all([sh("true"), sh("true"), sh("exit 3")]);
    assertEquals(ends.map((end) => end.type === "exited" && end.code), [0, 0, 3]);
    assertEquals(opened, { now: 0, most: 1 });
    const late = await sh("sleep 20", { timeoutMs: 300 });
    assertEquals([late.type, opened.now], ["timeout", 0]);
  });
});

testSandboxed(
  "a command that is given variables keeps them to itself: the relay has none",
  async () => {
    await withCommands({}, async (sh) => {
      const end = await sh(
        `echo "$KEY"; for dir in /proc/[0-9]*; do
         case $(tr '\\0' ' ' < $dir/cmdline) in
           /run/network/program*) tr '\\0' '\\n' < $dir/environ | cut -d= -f1 | sort ;;
         esac
       done`,
        { env: { KEY: "a-value-of-a-secret" } },
      );
      assert(end.type === "exited", JSON.stringify(end));
      assertEquals(end.output, "a-value-of-a-secret\nDENO_DIR\nDENO_NO_UPDATE_CHECK\n");
    });
  },
);

testSandboxed("a command whose network cannot be opened does not run", async () => {
  await withCommands({}, async (sh) => {
    const end = await sh("echo ran", { openNetwork: () => Promise.reject(new Error("no socket")) });
    assert(end.type === "fault" && end.message.includes("no socket"), JSON.stringify(end));
    const gone = await sh("echo ran", {
      openNetwork: () =>
        Promise.resolve({ socket: "/nowhere/proxy.sock", close: () => Promise.resolve() }),
    });
    assert(gone.type === "fault" && gone.message.includes("/nowhere"), JSON.stringify(gone));
  });
});
