/** What a release is made of, as far as it can be checked without making one. */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { generateKeyPairSync } from "node:crypto";
import { programFileName, verifySignature } from "../cli/upgrade/checksums.ts";
import { newKey } from "../cli/upgrade/testing/release_folder.ts";
import { defaultSource } from "../cli/upgrade/release_source.ts";
import { VERSION } from "../cli/version.ts";
import { findOwnDenoDir } from "../lib/packages/deno_dir.ts";
import { formula } from "../release/formula.ts";
import { PAGES, withReleasesUrl } from "../release/generate_docs.ts";
import { imageName, isReleasesUrlSet, RELEASES_URL } from "../release/releases_url.ts";
import { sbom } from "../release/sbom.ts";
import { readSigningKey } from "../release/signing_key.ts";
import {
  compiledFileName,
  DENO_VERSION,
  selfExtractingFileName,
  TARGETS,
} from "../release/targets.ts";
import { parseYaml } from "./support/parse_yaml.ts";

const ROOT = new URL("../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));

interface Job {
  needs?: string;
  permissions?: Record<string, string>;
  steps: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}

Deno.test("the workflow of a release parses, and what it calls is there", async () => {
  const text = await read(".github/workflows/release.yml");
  const workflow = parseYaml(text) as { permissions: unknown; jobs: Record<string, Job> };
  assertEquals(Object.keys(workflow.jobs), ["test", "build", "try", "publish"]);
  assertEquals(workflow.permissions, { contents: "read" });
  const { tasks } = JSON.parse(await read("deno.json"));
  const called: string[] = [];
  for (const [name, { needs, steps }] of Object.entries(workflow.jobs)) {
    assert(needs === undefined || needs in workflow.jobs, `${name} needs ${needs}`);
    for (const { uses, run, with: inputs } of steps) {
      // A tag can be moved, a commit can't.
      if (uses !== undefined) assertMatch(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      if (uses?.startsWith("actions/checkout@")) {
        assertEquals(inputs?.["persist-credentials"], false);
      }
      for (const [, version, task] of (run ?? "").matchAll(/deno@(\S+) task (\S+)/g)) {
        assertEquals(version, DENO_VERSION);
        assert(task! in tasks, `There is no task ${task}`);
        called.push(task!);
      }
      for (const [path] of (run ?? "").matchAll(/(?<![\w/.])(?:\.ci|release\/container)\/\S+/g)) {
        assert((await Deno.stat(new URL(path, ROOT))).isFile, path);
      }
    }
  }
  assertEquals(called, ["release"]);
  // The key is given to one step, and to nothing that somebody else wrote.
  assertEquals(text.match(/secrets\./g)?.length, 1);
});

Deno.test("the README and the page about installing have the URL that is set", async () => {
  for (const name of PAGES) {
    const page = await read(name);
    assertEquals(withReleasesUrl(page), page, `${name}: run deno task generate`);
    assert(page.includes(`curl -fsSL ${RELEASES_URL}/latest/download/install.sh | sh\n`));
    const url = "https://github.com/Some/thing/releases";
    const other = withReleasesUrl(page, url);
    assert(other.includes(`curl -fsSL ${url}/latest/download/install.sh | sh\n`));
    assert(!other.includes(RELEASES_URL), name);
    // Setting another one once more works, too.
    assertEquals(withReleasesUrl(other, RELEASES_URL).length, page.length);
  }
  assertEquals(imageName("https://github.com/Some/thing/releases"), "ghcr.io/some/thing");
  assertEquals(isReleasesUrlSet("https://github.com/a/b/releases"), true);
  assertEquals(isReleasesUrlSet("https://releases.example/service"), false);
});

Deno.test("each channel has its newest release", () => {
  const url = "https://a/releases";
  assertEquals(defaultSource(url, "1.0.0"), `${url}/latest/download`);
  assertEquals(defaultSource(url, "1.0.0-rc.1"), `${url}/download/preview`);
  assertThrows(() => defaultSource(undefined, "1.0.0"), Error, "service upgrade --from FILE");
});

Deno.test("service upgrade knows the names of all files that are made", () => {
  const systems = { linux: "linux", macos: "darwin", windows: "windows" } as const;
  for (const target of TARGETS) {
    const [system, cpu] = target.name.split("-") as [keyof typeof systems, string];
    const platform = {
      os: systems[system],
      arch: cpu === "x64" ? "x86_64" : "aarch64",
      isCompiled: false,
    } as const;
    assertEquals(selfExtractingFileName(target), programFileName(VERSION, platform));
    const compiled = { ...platform, isCompiled: true };
    assertEquals(compiledFileName(target), programFileName(VERSION, compiled));
  }
});

Deno.test("the formula has each file with its checksum", () => {
  const sums = new Map(
    TARGETS.map((target, at) => [selfExtractingFileName(target), String(at).repeat(64)]),
  );
  const text = formula(sums, "https://github.com/a/b/releases/download/v1");
  assertMatch(text, /^ {2}homepage "https:\/\/github\.com\/a\/b"$/m);
  for (const { name } of TARGETS.filter(({ name }) => !name.startsWith("windows"))) {
    const file = selfExtractingFileName(TARGETS.find((each) => each.name === name)!);
    const [, cpu, sum] = new RegExp(
      `on_(arm|intel) do\n {6}url "https://github.com/a/b/releases/download/v1/${file}"\n {6}sha256 "(\\d+)"`,
    ).exec(text)!;
    assertEquals([cpu, sum], [name.endsWith("arm64") ? "arm" : "intel", sums.get(file)]);
  }
});

Deno.test("the bill of materials names what the programs hold, and nothing of tests", async () => {
  const denoDir = findOwnDenoDir((name) => Deno.env.get(name))!;
  const bom = JSON.parse(await sbom({ denoDir, time: new Date(0) }));
  assertEquals([bom.bomFormat, bom.specVersion], ["CycloneDX", "1.6"]);
  const names: string[] = bom.components.map(({ name }: { name: string }) => name);
  for (const name of ["hono", "zod", "grammy", "@modelcontextprotocol/sdk", "deno"]) {
    assert(names.includes(name), name);
  }
  for (const name of ["fast-check", "playwright-core", "ai", "baileys", "libsignal"]) {
    assert(!names.includes(name), name);
  }
  const refs = bom.components.map((each: { "bom-ref": string }) => each["bom-ref"]);
  assertEquals(new Set(refs).size, refs.length);
  assertEquals(bom.dependencies[0].dependsOn, refs);
  for (const { name, hashes } of bom.components) {
    if (name !== "deno") assertMatch(hashes[0].content, /^[0-9a-f]{128}$/, name);
  }
});

Deno.test("a signing key is one of Ed25519, or none", async () => {
  assertEquals(readSigningKey(undefined), undefined);
  assertEquals(readSigningKey(" \n"), undefined);
  assertThrows(() => readSigningKey("secret"), Error, "isn't a private key in PEM");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  assertThrows(() => readSigningKey(pem), Error, "is a key for ec: expected ed25519");
  const key = newKey();
  const bytes = new TextEncoder().encode("text");
  await verifySignature(bytes, new Uint8Array(key.sign(bytes)), key.publicKey);
});

Deno.test("the container's system calls leave bubblewrap what it needs", async () => {
  const { defaultAction, syscalls } = JSON.parse(await read("release/container/seccomp.json"));
  assertEquals(defaultAction, "SCMP_ACT_ALLOW");
  const refused: string[] = syscalls.flatMap(({ names }: { names: string[] }) => names);
  assertEquals(refused, refused.toSorted());
  const needed = ["clone", "clone3", "unshare", "setns", "mount", "umount2", "pivot_root"];
  for (const name of [...needed, "sethostname", "prctl", "seccomp"]) {
    assert(!refused.includes(name), name);
  }
  for (const name of ["bpf", "io_uring_setup", "keyctl", "kexec_load", "ptrace"]) {
    assert(refused.includes(name), name);
  }
});
