import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { toFileUrl } from "@std/path";
import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { projectFiles } from "./locked_packages.ts";
import {
  channelPackages,
  createPackageFetcher,
  type PackageFetcherDeps,
} from "./package_fetcher.ts";
import { NOT_BUNDLED } from "./wanted_packages.ts";
import { freePort } from "../../tests/support/free_port.ts";

interface World {
  dir: string;
  denoDir: string;
  lines: { message: string; [field: string]: unknown }[];
  fetcher(more?: Partial<PackageFetcherDeps>): ReturnType<typeof createPackageFetcher>;
  /** A program that is run instead of Deno. */
  program(script: string): Promise<string>;
}

async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  const denoDir = `${dir}/deno`;
  const lines: World["lines"] = [];
  const line = (message: string, fields?: object) => void lines.push({ message, ...fields });
  const log: Log = { debug: line, info: line, warning: line, error: line };
  const files = projectFiles(toFileUrl(`${dir}/`));
  await Deno.writeTextFile(files.configFile, '{"lock": false, "nodeModulesDir": "none"}');
  await Deno.writeTextFile(files.lockFile, JSON.stringify(LOCK));
  try {
    await run({
      dir,
      denoDir,
      lines,
      fetcher: (more) =>
        createPackageFetcher({
          packages: { ...files, denoDir },
          env: (name) => (name === "PATH" ? `${Deno.env.get("PATH")}:/usr/bin:/bin` : undefined),
          log,
          ...more,
        }),
      async program(script) {
        const path = `${dir}/program-${crypto.randomUUID()}`;
        await Deno.writeTextFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
        return path;
      },
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const INTEGRITY = `sha512-${"A".repeat(86)}==`;

const LOCK = {
  version: "5",
  specifiers: { "npm:@scope/a@1.2.3": "1.2.3_b@4.0.0", "npm:b@4.0.0": "4.0.0" },
  npm: {
    "@scope/a@1.2.3_b@4.0.0": { integrity: INTEGRITY, dependencies: ["b"] },
    "b@4.0.0": { integrity: INTEGRITY },
  },
};

const WANTED = channelPackages("mail", ["npm:@scope/a@1.2.3"]);
const B = channelPackages("mail", ["npm:b@4.0.0"]);

const bring = (denoDir: string) =>
  `mkdir -p ${denoDir}/npm/registry.example/@scope/a/1.2.3 ${denoDir}/npm/registry.example/b/4.0.0`;

Deno.test("PackageFetcher.ensure() starts nothing where nothing is missing, or in the binary", async () => {
  await inWorld(async ({ denoDir, fetcher }) => {
    const program = "/not/there";
    await fetcher({ program, packages: undefined }).ensure(WANTED);
    await fetcher({ program }).ensure({ ...WANTED, dependencies: [] });
    await Deno.mkdir(`${denoDir}/npm/registry.example/b/4.0.0`, { recursive: true });
    await fetcher({ program }).ensure(B);
  });
});

Deno.test("PackageFetcher.ensure() fetches in the built form what that doesn't hold, and says in the binary what to do", async () => {
  await inWorld(async ({ dir, fetcher, program }) => {
    const path = await program(`echo "$@" >> ${dir}/runs`);
    const built = fetcher({ program: path, isBuilt: true });
    await built.ensure(WANTED);
    const [apart] = NOT_BUNDLED;
    const wanted = channelPackages("chat", [...WANTED.dependencies, apart!]);
    await assertRejects(() => built.ensure(wanted), ServiceError, "Cannot fetch");
    assertStringIncludes(await Deno.readTextFile(`${dir}/runs`), `--frozen ${apart}\n`);
    const compiled = fetcher({ packages: undefined, isBuilt: true });
    await compiled.ensure(WANTED);
    const error = await assertRejects(() => compiled.ensure(wanted), ServiceError);
    assertEquals(error.code, "config_invalid");
    assertStringIncludes(error.message, "use the file");
  });
});

Deno.test("PackageFetcher.ensure() fetches once for all who need the same, and no more than it needs", async () => {
  await inWorld(async ({ dir, denoDir, fetcher, program }) => {
    const path = await program(`echo "$@ $DENO_DIR" >> ${dir}/runs; ${bring(denoDir)}`);
    const { ensure } = fetcher({ program: path });
    await Promise.all([ensure(WANTED), ensure(WANTED), ensure({ ...WANTED, user: "b" })]);
    assertEquals(
      await Deno.readTextFile(`${dir}/runs`),
      `cache --quiet --config ${dir}/deno.json --lock=${dir}/deno.lock --frozen ` +
        `npm:@scope/a@1.2.3 ${denoDir}\n`,
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
      "Cannot fetch @scope/a@1.2.3 and 1 more package for the channel mail: " +
        "make sure that this machine reaches the package registry",
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
    await assertRejects(
      () => fetcher({ program: path }).ensure(WANTED),
      ServiceError,
      "@scope/a@1.2.3",
    );
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
    const port = freePort();
    const { ensure } = fetcher({
      env: (name) =>
        name === "NPM_CONFIG_REGISTRY"
          ? `http://127.0.0.1:${port}/`
          : name === "HOME"
          ? dir
          : undefined,
    });
    const error = await assertRejects(
      () => ensure(B),
      ServiceError,
      "Cannot fetch b@4.0.0 for the channel mail: make sure that this machine reaches",
    );
    assertEquals(error.message.includes("127.0.0.1"), false);
    assertStringIncludes(String(lines.at(-1)!.output), "127.0.0.1");
  });
});

Deno.test("PackageFetcher.ensure() holds up no channel that has what it needs", async () => {
  await inWorld(async ({ denoDir, fetcher, program }) => {
    const fetching = fetcher({ program: await program("sleep 60") });
    const slow = assertRejects(() => fetching.ensure(WANTED), ServiceError);
    await Deno.mkdir(`${denoDir}/npm/registry.example/b/4.0.0`, { recursive: true });
    await fetching.ensure(B);
    await fetching.shutdown();
    await slow;
  });
});
