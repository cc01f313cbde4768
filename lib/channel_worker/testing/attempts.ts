/** What a channel may not do, each tried from inside of its worker. `facts` are of the test. */

type Facts = Readonly<Record<string, unknown>>;

const file = (path: unknown) => Deno.readTextFileSync(String(path));

/** A specifier that the module graph cannot know beforehand. */
const load = (specifier: string) => import(specifier);

const worker = (permissions: unknown) => {
  const url = `data:text/javascript,self.postMessage(1)`;
  return new Worker(url, { type: "module", deno: { permissions } } as WorkerOptions);
};

interface Bindings {
  binding(name: string): { spawn(options: object): unknown };
  _linkedBinding(name: string): unknown;
}

/** By names. */
export const ATTEMPTS: Readonly<Record<string, (facts: Facts) => unknown>> = {
  read_own: (facts) => file(`${facts.stateDir}/own.txt`),
  write_own: (facts) => Deno.writeTextFileSync(`${facts.stateDir}/own.txt`, "mine"),
  connect_own: async (facts) => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(facts.ownPort) });
    connection.close();
    return "connected";
  },
  fetch_own: async (facts) => await (await fetch(`http://127.0.0.1:${facts.ownPort}/`)).text(),
  env_own: () => Deno.env.get("WORKER_TEST_OWN"),

  query: (facts) => Deno.permissions.querySync(facts.descriptor as Deno.PermissionDescriptor).state,

  read_other: (facts) => file(`${facts.otherDir}/secret.txt`),
  read_other_up: (facts) => file(`${facts.stateDir}/../other/secret.txt`),
  read_channels: (facts) => [...Deno.readDirSync(`${facts.stateDir}/..`)].length,
  write_other: (facts) => Deno.writeTextFileSync(`${facts.otherDir}/planted`, ""),
  read_journal: (facts) => file(`${facts.home}/data/service.db`),
  read_config: (facts) => file(`${facts.home}/config.json`),
  read_keys: (facts) => file(`${facts.home}/keys/audit.key`),
  link_out: (facts) => Deno.symlinkSync(String(facts.otherDir), `${facts.stateDir}/link`),
  hard_link_out: (facts) =>
    Deno.linkSync(`${facts.otherDir}/secret.txt`, `${facts.stateDir}/link.txt`),
  rename_out: (facts) => Deno.renameSync(`${facts.otherDir}/secret.txt`, `${facts.stateDir}/got`),
  node_read: async (facts) =>
    (await import("node:fs")).readFileSync(`${facts.otherDir}/secret.txt`, "utf8"),
  proc_environ: () => file("/proc/self/environ"),
  proc_fd: () => [...Deno.readDirSync("/proc/self/fd")].length,
  proc_root: (facts) => file(`/proc/self/root${facts.otherDir}/secret.txt`),
  etc_passwd: () => file("/etc/passwd"),
  environment: () => JSON.stringify(Deno.env.toObject()),
  env_other: () => Deno.env.get("WORKER_TEST_OTHER"),
  process_env: async () => (await import("node:process")).default.env.WORKER_TEST_OTHER,
  sys: () => Deno.hostname(),

  connect_other: (facts) => Deno.connect({ hostname: "127.0.0.1", port: Number(facts.otherPort) }),
  connect_name: (facts) => Deno.connect({ hostname: "localhost", port: Number(facts.ownPort) }),
  connect_own_other_ip: (facts) =>
    Deno.connect({ hostname: "127.0.0.2", port: Number(facts.ownPort) }),
  connect_short_ip: (facts) => Deno.connect({ hostname: "127.1", port: Number(facts.ownPort) }),
  connect_zero: (facts) => Deno.connect({ hostname: "0.0.0.0", port: Number(facts.otherPort) }),
  connect_ipv6: (facts) => Deno.connect({ hostname: "::1", port: Number(facts.otherPort) }),
  connect_mapped: (facts) =>
    Deno.connect({ hostname: "::ffff:127.0.0.1", port: Number(facts.otherPort) }),
  connect_tls: (facts) => Deno.connectTls({ hostname: "127.0.0.1", port: Number(facts.otherPort) }),
  connect_node: async (facts) => {
    const { connect } = await import("node:net");
    return await new Promise((resolve, reject) => {
      const socket = connect(Number(facts.otherPort), "127.0.0.1", () => resolve("connected"));
      socket.once("error", reject);
    });
  },
  connect_node_http: async (facts) => {
    const { get } = await import("node:http");
    return await new Promise((resolve, reject) => {
      get(`http://127.0.0.1:${facts.otherPort}/`, () => resolve("answered")).on("error", reject);
    });
  },
  connect_unix: (facts) => Deno.connect({ transport: "unix", path: `${facts.home}/s.sock` }),
  fetch_other: (facts) => fetch(`http://127.0.0.1:${facts.otherPort}/`),
  fetch_redirect: (facts) => fetch(`http://127.0.0.1:${facts.ownPort}/redirect`),
  fetch_file: (facts) => fetch(`file://${facts.otherDir}/secret.txt`),
  websocket: (facts) => new WebSocket(`ws://127.0.0.1:${facts.otherPort}/`),
  event_source: async (facts) => {
    const source = new EventSource(`http://127.0.0.1:${facts.otherPort}/`);
    await new Promise((resolve, reject) => {
      source.onopen = resolve;
      source.onerror = () => reject(new Error("no connection"));
    }).finally(() => source.close());
  },
  datagram: () => Deno.listenDatagram({ port: 0, transport: "udp", hostname: "127.0.0.1" }),
  listen_other: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  serve_other: () => Deno.serve({ hostname: "127.0.0.1", port: 0 }, () => new Response()),
  dns: () => Deno.resolveDns("example.com", "A"),
  dns_node: async () => await (await import("node:dns/promises")).lookup("example.com"),

  import_npm: () => load("npm:is-" + "number@7.0.0"),
  import_https: () => load("https://example." + "com/m.ts"),
  import_jsr: () => load("jsr:@std/" + "assert@1"),
  import_file: (facts) => load(`file://${facts.otherDir}/planted.ts`),
  import_config: (facts) => load(`file://${facts.home}/config.json`),

  worker_net: () => worker({ net: true }),
  worker_read: () => worker({ read: true }),
  worker_all: () => worker("inherit") && worker({ run: true }),
  run: () => new Deno.Command("/bin/true").outputSync(),
  run_node: async () => (await import("node:child_process")).execFileSync("/bin/true"),
  ffi: () => Deno.dlopen("libc.so.6", {}),
  kv: async (facts) => {
    const { DatabaseSync } = await import("node:sqlite");
    return new DatabaseSync(`${facts.home}/data/service.db`).prepare("SELECT 1").get();
  },
  chdir: (facts) => Deno.chdir(String(facts.stateDir)),
  kill: async () => {
    const { default: process } = await import("node:process");
    return process.kill(process.pid, "SIGTERM");
  },
  signal: () => Deno.addSignalListener("SIGTERM", () => {}),
  umask: () => Deno.umask(0),
  read_home: (facts) => [...Deno.readDirSync(String(facts.home))].length,
  read_run: (facts) => [...Deno.readDirSync(`${facts.home}/run`)].length,
  env_home: () => Deno.env.get("HOME"),
  proc_parent_environ: () => file(`/proc/${Deno.ppid}/environ`),
  proc_parent_fd: () => [...Deno.readDirSync(`/proc/${Deno.ppid}/fd`)].length,
  proc_parent_mem: () => Deno.openSync(`/proc/${Deno.ppid}/mem`),
  proc_service: (facts) => file(`/proc/${facts.pid}/environ`),
  kill_parent: () => Deno.kill(Deno.ppid, "SIGKILL"),
  kill_service: (facts) => Deno.kill(Number(facts.pid), "SIGKILL"),
  kill_parent_node: async () => {
    const { default: process } = await import("node:process");
    return process.kill(process.ppid, "SIGKILL");
  },
  binding: async () => {
    const { default: process } = await import("node:process");
    return (process as unknown as Bindings).binding("spawn_sync").spawn({ file: "/bin/true" });
  },
  linked_binding: async () => {
    const { default: process } = await import("node:process");
    return (process as unknown as Bindings)._linkedBinding("fs");
  },
  import_data: (facts) =>
    load(
      `data:text/javascript,Deno.readTextFileSync(${
        JSON.stringify(`${facts.otherDir}/secret.txt`)
      })`,
    ),
  import_blob: (facts) => {
    const code = `Deno.readTextFileSync(${JSON.stringify(`${facts.otherDir}/secret.txt`)})`;
    return load(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  },
  request_more: async () => {
    const { state } = await Deno.permissions.request({ name: "net" });
    if (state !== "granted") throw new Deno.errors.NotCapable(state);
  },
};

/**
 * What can be had of every descriptor that may be open: `net.Socket` adopts one by its number and asks for
 * no permission. May be the end of this process, whose own descriptors are among them.
 */
export async function adoptAll(): Promise<string> {
  const { Socket } = await import("node:net");
  const got: string[] = [];
  for (let fd = 3; fd < 64; fd++) {
    try {
      const socket = new Socket({ fd });
      socket.on("error", () => {});
      socket.on(
        "data",
        (bytes: Uint8Array) => got.push(`${fd}: ${new TextDecoder().decode(bytes)}`),
      );
      socket.write("adopted");
    } catch {
      // It is no socket, or nothing at all.
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  return got.join("\n");
}
