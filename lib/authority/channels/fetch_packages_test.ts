import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { ServiceError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { createPackageFetcher, type FetchPackagesDeps, missingPackages } from "./fetch_packages.ts";

interface World {
  dir: string;
  denoDir: string;
  lines: { message: string; [field: string]: unknown }[];
  fetcher(more?: Partial<FetchPackagesDeps>): ReturnType<typeof createPackageFetcher>;
  /** A program that is run instead of Deno. */
  program(script: string): Promise<string>;
}

async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  const denoDir = join(dir, "deno");
  const lines: World["lines"] = [];
  const line = (message: string, fields?: object) => void lines.push({ message, ...fields });
  const log: Log = { debug: line, info: line, warning: line, error: line };
  const configFile = join(dir, "deno.json");
  const lockFile = join(dir, "deno.lock");
  await Deno.writeTextFile(configFile, '{"lock": false, "nodeModulesDir": "none"}');
  try {
    await run({
      dir,
      denoDir,
      lines,
      fetcher: (more) =>
        createPackageFetcher({
          packages: { configFile, lockFile, denoDir },
          env: (name) => (name === "PATH" ? Deno.env.get("PATH") : undefined),
          log,
          ...more,
        }),
      async program(script) {
        const path = join(dir, `program-${crypto.randomUUID()}`);
        await Deno.writeTextFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
        return path;
      },
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const WANTED = {
  runtimeName: "mail",
  module: "file:///program/channels/mail/runtime.ts",
  dependencies: ["npm:@scope/a@1.2.3", "npm:b@4.0.0"],
};

const bring = (denoDir: string) =>
  `mkdir -p ${denoDir}/npm/registry.example/@scope/a/1.2.3 ${denoDir}/npm/registry.example/b/4.0.0`;

Deno.test("missingPackages() looks for each version in every registry's folder", async () => {
  await inWorld(async ({ denoDir }) => {
    assertEquals(await missingPackages(WANTED.dependencies, denoDir), WANTED.dependencies);
    assertEquals(await missingPackages([], join(denoDir, "not_there")), []);
    await Deno.mkdir(`${denoDir}/npm/registry.example/b/4.0.0`, { recursive: true });
    await Deno.mkdir(`${denoDir}/npm/mirror.example/@scope/a/1.2.4`, { recursive: true });
    assertEquals(await missingPackages(WANTED.dependencies, denoDir), ["npm:@scope/a@1.2.3"]);
    await Deno.mkdir(`${denoDir}/npm/mirror.example/@scope/a/1.2.3`);
    assertEquals(await missingPackages(WANTED.dependencies, denoDir), []);
    assertEquals(await missingPackages(["left-pad"], denoDir), ["left-pad"]);
  });
});

Deno.test("PackageFetcher.ensure() starts nothing where nothing is missing, or in the binary", async () => {
  await inWorld(async ({ denoDir, fetcher }) => {
    const program = "/not/there";
    await fetcher({ program, packages: undefined }).ensure(WANTED);
    await fetcher({ program }).ensure({ ...WANTED, dependencies: [] });
    await Deno.mkdir(`${denoDir}/npm/registry.example/b/4.0.0`, { recursive: true });
    await fetcher({ program }).ensure({ ...WANTED, dependencies: ["npm:b@4.0.0"] });
  });
});

Deno.test("PackageFetcher.ensure() fetches once for all who need the same, and no more than it needs", async () => {
  await inWorld(async ({ dir, denoDir, fetcher, program }) => {
    const path = await program(`echo "$@ $DENO_DIR" >> ${dir}/runs; ${bring(denoDir)}`);
    const { ensure } = fetcher({ program: path });
    await Promise.all([ensure(WANTED), ensure(WANTED), ensure({ ...WANTED, runtimeName: "b" })]);
    assertEquals(
      await Deno.readTextFile(`${dir}/runs`),
      `cache --quiet --frozen --config ${dir}/deno.json ${WANTED.module} ${denoDir}\n`,
    );
  });
});

Deno.test("PackageFetcher.ensure() fails in words of its own, and tries again later (C9)", async () => {
  await inWorld(async ({ denoDir, fetcher, lines, program }) => {
    const path = await program(`if [ -e ${denoDir}/ok ]; then ${bring(denoDir)}; else
      echo 'error: npm ERR! 500 https://user:pass@registry/' >&2; exit 1; fi`);
    const { ensure } = fetcher({ program: path });
    const error = await assertRejects(() => ensure(WANTED), ServiceError);
    assertEquals(
      error.message,
      "Cannot fetch npm:@scope/a@1.2.3, npm:b@4.0.0 for the channel mail: " +
        "make sure that this machine reaches the package registry; it is tried again",
    );
    assertEquals(lines.at(-1)!.output, "error: npm ERR! 500 https://registry/");
    await Deno.mkdir(denoDir, { recursive: true });
    await Deno.writeTextFile(`${denoDir}/ok`, "");
    await ensure(WANTED);
  });
});

Deno.test("PackageFetcher.ensure() believes what is there, not what a program says", async () => {
  await inWorld(async ({ fetcher, program }) => {
    const path = await program("exit 0");
    await assertRejects(() => fetcher({ program: path }).ensure(WANTED), ServiceError, "npm:b@4");
  });
});

Deno.test("PackageFetcher.ensure() ends a fetch that takes too long, or is not wanted any more", async () => {
  await inWorld(async ({ fetcher, program }) => {
    const path = await program("sleep 60 & sleep 60");
    const start = performance.now();
    await assertRejects(() => fetcher({ program: path, timeoutMs: 50 }).ensure(WANTED));
    const closing = fetcher({ program: path });
    const fetching = assertRejects(() => closing.ensure(WANTED), ServiceError);
    await closing.shutdown();
    await fetching;
    assert(performance.now() - start < 30_000);
    await assertRejects(() => closing.ensure(WANTED), ServiceError, "stopping");
  });
});

Deno.test("PackageFetcher.ensure() with Deno itself says plainly that a registry is out of reach", async () => {
  await inWorld(async ({ dir, fetcher, lines }) => {
    const module = `file://${dir}/runtime.ts`;
    await Deno.writeTextFile(`${dir}/runtime.ts`, 'import "npm:b@4.0.0";\n');
    const registry = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = registry.addr as Deno.NetAddr;
    registry.close();
    const { ensure } = fetcher({
      env: (name) =>
        name === "NPM_CONFIG_REGISTRY"
          ? `http://127.0.0.1:${port}/`
          : name === "HOME"
          ? dir
          : undefined,
    });
    const error = await assertRejects(
      () => ensure({ ...WANTED, module, dependencies: ["npm:b@4.0.0"] }),
      ServiceError,
    );
    assertEquals(error.message.includes("127.0.0.1"), false);
    assertStringIncludes(String(lines.at(-1)!.output), "127.0.0.1");
  });
});

Deno.test("PackageFetcher.ensure() holds up no channel that has what it needs", async () => {
  await inWorld(async ({ denoDir, fetcher, program }) => {
    const fetching = fetcher({ program: await program("sleep 60") });
    const slow = assertRejects(() => fetching.ensure(WANTED), ServiceError);
    await Deno.mkdir(`${denoDir}/npm/registry.example/c/1.0.0`, { recursive: true });
    await fetching.ensure({ ...WANTED, dependencies: ["npm:c@1.0.0"] });
    await fetching.shutdown();
    await slow;
  });
});
