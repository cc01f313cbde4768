import { assert, assertEquals } from "@std/assert";
import { toFileUrl } from "@std/path";
import { type FetchOptions, fetchPackages, type FetchProgress, namesOf } from "./fetch_packages.ts";
import { projectFiles } from "./locked_packages.ts";

const LOCK = {
  version: "5",
  specifiers: { "npm:a@1.0.0": "1.0.0" },
  npm: { "a@1.0.0": { dependencies: ["b", "c"] }, "b@1.0.0": {}, "c@1.0.0": {} },
};

/** Runs a script in place of Deno; `$P` is the folder of packages. */
async function fetchWith(script: string, options: Partial<FetchOptions> = {}) {
  const dir = await Deno.makeTempDir();
  try {
    const packages = { ...projectFiles(toFileUrl(`${dir}/`)), denoDir: `${dir}/deno` };
    await Deno.writeTextFile(packages.lockFile, JSON.stringify(LOCK));
    const program = `${dir}/program`;
    await Deno.writeTextFile(
      program,
      `#!/bin/sh\nPATH=/usr/bin:/bin P=$DENO_DIR/npm/registry\n${script}\n`,
      {
        mode: 0o700,
      },
    );
    const seen: FetchProgress[] = [];
    const failure = await fetchPackages(["npm:a@1.0.0"], {
      packages,
      program,
      onProgress: (progress) => seen.push(progress),
      ...options,
    });
    return { failure, seen, dir };
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const ALL = "mkdir -p $P/a/1.0.0 $P/b/1.0.0 $P/c/1.0.0";

Deno.test("fetchPackages() tells how many have come, and how large they are", async () => {
  // As Deno does, a package comes whole: the folder is looked at while it comes.
  const whole = "mkdir -p $P/new $P/b; printf 12345 > $P/new/file; mv $P/new $P/b/1.0.0";
  const { failure, seen } = await fetchWith(`${whole}; ${ALL}`);
  assertEquals(failure, undefined);
  assertEquals(seen[0], { fetched: 0, total: 3, bytes: 0 });
  assertEquals(seen.at(-1), { fetched: 3, total: 3, bytes: 5 });
});

Deno.test("fetchPackages() names the package that it failed at, and how many more are missing", async () => {
  const { failure } = await fetchWith(
    "mkdir -p $P/b/1.0.0; echo \"error: Failed caching npm package 'c@1.0.0'\" >&2; exit 1",
  );
  assertEquals(failure!.missing, ["c@1.0.0", "a@1.0.0"]);
  assertEquals(namesOf(failure!), "c@1.0.0 and 1 more package");
  assertEquals(failure!.advice, "make sure that this machine reaches the package registry");
});

Deno.test("fetchPackages() says what to do about a disk, a folder, a hash or a certificate", async () => {
  for (
    const [said, advice] of [
      ["No space left on device (os error 28)", "is full; free some space on it"],
      ["Read-only file system (os error 30)", "can't be written; make it writable"],
      ["Permission denied (os error 13)", "can't be written; make it writable"],
      ["Tarball checksum did not match", "is not what"],
      ["invalid peer certificate: UnknownIssuer", "DENO_CERT"],
    ] as const
  ) {
    const { failure } = await fetchWith(`echo 'error: ${said}' >&2; exit 1`);
    assert(failure!.advice.includes(advice), `${said}: ${failure!.advice}`);
  }
});

Deno.test("fetchPackages() ends with its signal, and the next one goes on", async () => {
  const ended = new AbortController();
  const { failure } = await fetchWith("mkdir -p $P/a/1.0.0; exec sleep 60", {
    signal: ended.signal,
    onProgress: ({ fetched }) => {
      if (fetched === 1) ended.abort();
    },
  });
  assertEquals(failure!.missing, ["b@1.0.0", "c@1.0.0"]);
});

Deno.test("fetchPackages() keeps a registry's password out of what is logged", async () => {
  const { failure } = await fetchWith("echo 'https://user:pass@registry/' >&2; exit 1");
  assertEquals(failure!.output, "https://registry/");
});
