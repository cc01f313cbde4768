// deno-lint-ignore-file no-console -- a package would
/** Code that runs where the service runs, and tries what the service may not. Reports each attempt. */

import { standInGateway } from "../../lib/authority/testing/stand_in_gateway.ts";

interface Probe {
  table: { kind: "net" | "read" | "write" | "env"; value: string }[];
  forbidden: {
    configFile: string;
    auditDir: string;
    keysDir: string;
    operatorDir: string;
    workspace: string;
  };
  /** Number of the process that started this one. */
  launcher: number;
}

const descriptors = {
  net: (value: string) => ({ name: "net", host: value }),
  read: (value: string) => ({ name: "read", path: value }),
  write: (value: string) => ({ name: "write", path: value }),
  env: (value: string) => ({ name: "env", variable: value }),
} as const;

async function attempt(action: () => unknown): Promise<string> {
  try {
    await action();
    return "allowed";
  } catch (error) {
    return error instanceof Error ? error.name : "error";
  }
}

/** Takes over every descriptor that this process may have; `net.Socket` asks for no permission. */
async function adoptAll(): Promise<void> {
  const { Socket } = await import("node:net");
  const got: number[] = [];
  // Its own pipes are among them, and nothing is written: they carry this report.
  for (let fd = 3; fd < 64; fd++) {
    try {
      const socket = new Socket({ fd });
      socket.on("error", () => {});
      socket.on("data", () => void got.push(fd));
    } catch {
      // It is no socket, or nothing at all.
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (got.length === 0) throw new Deno.errors.NotCapable("nothing was there");
}

async function tryAll(boot: unknown): Promise<string> {
  const { table, forbidden, launcher } = boot as Probe;
  // What a package prints must not come between the frames.
  for (const print of [console.log, console.info, console.debug]) print("noise");
  const granted = table.filter(({ kind, value }) => {
    if (value.startsWith("unix:")) return true; // no query knows sockets; the service listens there
    return Deno.permissions.querySync(descriptors[kind](value) as Deno.PermissionDescriptor)
      .state === "granted";
  });
  const whole = (["net", "read", "write", "env", "run", "ffi", "sys"] as const).filter((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
  // A specifier in a variable: the module graph cannot know it beforehand.
  const load = (specifier: string) => import(specifier);
  const attempts: Record<string, string> = {
    "start a process": await attempt(() => new Deno.Command("/bin/true").outputSync()),
    "read /etc/passwd": await attempt(() => Deno.readTextFileSync("/etc/passwd")),
    "read the workspace": await attempt(() => Deno.readDirSync(forbidden.workspace).next()),
    "read the configuration": await attempt(() => Deno.readTextFileSync(forbidden.configFile)),
    "write the configuration": await attempt(() =>
      Deno.writeTextFileSync(forbidden.configFile, "")
    ),
    "write the audit": await attempt(() =>
      Deno.writeTextFileSync(`${forbidden.auditDir}/audit.jsonl`, "")
    ),
    "read a key": await attempt(() => Deno.readDirSync(forbidden.keysDir).next()),
    "write a key": await attempt(() => Deno.writeTextFileSync(`${forbidden.keysDir}/k`, "")),
    "read the tokens and grants": await attempt(() =>
      Deno.readDirSync(forbidden.operatorDir).next()
    ),
    "write the tokens and grants": await attempt(() =>
      Deno.writeTextFileSync(`${forbidden.operatorDir}/grants.json`, "")
    ),
    "connect elsewhere": await attempt(() => Deno.connect({ hostname: "127.0.0.1", port: 9 })),
    "fetch elsewhere": await attempt(() => fetch("http://192.0.2.1/")),
    "listen elsewhere": await attempt(() => Deno.listen({ hostname: "127.0.0.1", port: 8901 })),
    "read HOME": await attempt(() => Deno.env.get("HOME")),
    "import npm:": await attempt(() => load("npm:is-" + "number@7.0.0")),
    "import https:": await attempt(() => load("https://example." + "com/m.ts")),
    "import file:": await attempt(() => load(`file://${forbidden.workspace}/planted.ts`)),
    "import data:": await attempt(() =>
      load(`data:text/javascript,Deno.readTextFileSync(${JSON.stringify(forbidden.configFile)})`)
    ),
    "read the launcher's environment": await attempt(() =>
      Deno.readTextFileSync(`/proc/${launcher}/environ`)
    ),
    "read the launcher's descriptors": await attempt(() =>
      Deno.readDirSync(`/proc/${launcher}/fd`).next()
    ),
    "read its own descriptors": await attempt(() => Deno.readDirSync("/proc/self/fd").next()),
    "end the launcher": await attempt(() => Deno.kill(launcher, "SIGTERM")),
    "end its parent": await attempt(() => Deno.kill(Deno.ppid, "SIGTERM")),
    "bind to what Node is made of": await attempt(async () => {
      const { default: process } = await import("node:process");
      (process as unknown as { binding(name: string): { spawn(options: object): unknown } })
        .binding("spawn_sync").spawn({ file: "/bin/true" });
    }),
    "take over a descriptor": await attempt(adoptAll),
    "a Worker with more": await attempt(() => {
      const url = URL.createObjectURL(new Blob([""], { type: "text/javascript" }));
      new Worker(url, {
        type: "module",
        deno: { permissions: { run: true } },
      } as WorkerOptions);
    }),
  };
  return JSON.stringify({ granted, whole, attempts });
}

standInGateway({
  start: async (boot) => ({ model: "none", interrupted: 0, modelReason: await tryAll(boot) }),
});
