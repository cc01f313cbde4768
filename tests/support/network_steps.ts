/**
 * What `network_world.ts` is asked to do and what it reports, and how it is started.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { CommandOutcome } from "../../lib/executor/commands.ts";
import type { ProxyLimits } from "../../lib/network/proxy/protocol.ts";
import { programPath } from "./needs.ts";
import { PUBLIC_ADDRESS } from "./own_network_names.ts";
import { lockedFlags } from "../../lib/packages/locked_packages.ts";

/** A command with its hosts. */
export interface NetworkStep {
  name: string;
  /** Text for the shell. */
  sh: string;
  hosts: string[];
  privateHosts?: string[];
  limits?: Partial<ProxyLimits>;
  timeoutMs?: number;
  /** Runs at the same time, with a network of its own. */
  beside?: NetworkStep;
}

/** What came of everything. */
export interface NetworkReport {
  steps: {
    name: string;
    end: CommandOutcome;
    output: string;
    /** Requests that servers took, `<server> <Host header><path>`. */
    reached: string[];
    /** Questions that the resolver was asked, `name/A`. */
    asked: string[];
    records: Record<string, unknown>[];
    /** Most connections at once at the server that holds them. */
    mostHeld: number;
    isSocketLeft: boolean;
  }[];
  log: string[];
  /** Bytes that the server which pours has sent. */
  poured: number;
}

/** What a test with a world needs. */
export const WORLD_NEEDS = ["bubblewrap", "ip", "openssl"] as const;

/** Runs steps one after the other; `prepare` fills the folder that holds `workspace` and `files`. */
export async function runInWorld(
  steps: NetworkStep[],
  prepare: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<NetworkReport> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "w" }));
  try {
    await Deno.mkdir(`${folder}/workspace`);
    await Deno.mkdir(`${folder}/files`);
    await makeCertificates(folder);
    await prepare(folder);
    await Deno.writeTextFile(`${folder}/resolv.conf`, "nameserver 127.0.0.1\n");
    await Deno.writeTextFile(`${folder}/hosts`, "127.0.0.1 localhost\n");
    const script = new URL("./network_world.ts", import.meta.url).pathname;
    const { code, stdout, stderr } = await new Deno.Command(programPath("bubblewrap"), {
      args: [
        ...["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--die-with-parent"],
        ...["--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_NET_BIND_SERVICE"],
        ...["--cap-add", "CAP_SETFCAP"],
        ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev"],
        ...["--ro-bind", `${folder}/resolv.conf`, "/etc/resolv.conf"],
        ...["--ro-bind", `${folder}/hosts`, "/etc/hosts"],
        "/bin/sh",
        "-c",
        `${programPath("ip")} addr add ${PUBLIC_ADDRESS}/32 dev lo && exec "$@"`,
        "sh",
        ...[Deno.execPath(), "run", "-A", "-q", "--cached-only", ...lockedFlags(), script],
        ...[folder, JSON.stringify(steps)],
      ],
      env: { DENO_NO_UPDATE_CHECK: "1" },
    }).output();
    const text = new TextDecoder();
    assertEquals(code, 0, text.decode(stderr));
    return JSON.parse(text.decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A CA, put into the workspace as `ca.txt`, and a leaf for the names of the world. */
async function makeCertificates(folder: string): Promise<void> {
  const names = "DNS:plain.example,DNS:*.plain.example,DNS:rebind.example";
  await Deno.writeTextFile(`${folder}/leaf.ext`, `subjectAltName=${names}\n`);
  const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes".split(" ");
  await run(programPath("openssl"), folder, [
    ...["req", "-x509", ...key, "-days", "2", "-subj", "/CN=Test CA"],
    ...["-keyout", "ca.key", "-out", "workspace/ca.txt"],
  ]);
  await run(programPath("openssl"), folder, [
    ...["req", "-new", ...key, "-subj", "/CN=plain.example"],
    ...["-keyout", "leaf.key", "-out", "leaf.csr"],
  ]);
  await run(programPath("openssl"), folder, [
    ...["x509", "-req", "-in", "leaf.csr", "-CA", "workspace/ca.txt", "-CAkey", "ca.key"],
    ...["-CAcreateserial", "-days", "2", "-extfile", "leaf.ext", "-out", "leaf.pem"],
  ]);
}

/** Runs a program to its end, which has to be a good one. */
export async function run(program: string, cwd: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { cwd, args, stdout: "null" })
    .output();
  assertEquals(success, true, `${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
