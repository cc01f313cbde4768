/**
 * The compiled binary. Its runtime is seldom there, so the built form stands for it: each of its processes
 * starts with the permissions that are baked into a binary, and narrows itself.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { LAUNCHER_GRANTS } from "../../lib/executor/command.ts";
import { makeCompiled } from "../../release/compiled.ts";
import { filesIn, makeBuilt } from "../support/built_form.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { ownTarget } from "../support/small_file.ts";

/** What `lib/base/layout.ts` says of the binary, as the bundler writes it. */
const NARROWS_ITSELF = "NARROWS_ITSELF = Deno.build.standalone";

/** The built form in a folder, with processes that narrow themselves. */
async function makeNarrowing(folder: string): Promise<void> {
  await makeBuilt(folder);
  let changed = 0;
  for (const path of await filesIn(folder)) {
    const text = await Deno.readTextFile(path);
    if (!text.includes(NARROWS_ITSELF)) continue;
    await Deno.writeTextFile(path, text.replace(NARROWS_ITSELF, "NARROWS_ITSELF = true"));
    changed++;
  }
  // The launcher, and what narrows itself.
  assert(changed >= 2);
}

Deno.test("a binary is given the permissions of the launcher, and no others", async () => {
  const { permissions } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  const named = Object.keys(permissions.service).map((kind) => `--allow-${kind}`);
  assertEquals(LAUNCHER_GRANTS.toSorted(), named.toSorted());
});

Deno.test("processes that narrow themselves do the whole job", async () => {
  const dir = await Deno.makeTempDir({ prefix: "narrowing-" });
  try {
    await makeNarrowing(`${dir}/built`);
    await using home = await makeHome({}, `${dir}/built/`);
    const said = await home.run(["agent", "-m", '/tool list_files {"path":"."}']);
    assertMatch(said.stdout, /list_files answered/, said.stderr);
    for (const _ of ["first", "after a kill"]) {
      await using service = await home.start(["gateway", "--json"]);
      const page = await fetch(service.wsUrl.replace(/^ws/, "http"));
      assertEquals([page.status, (await page.text()).includes("<html")], [200, true]);
      const guest = await home.run(["agent", "-m", "hello"]);
      assertStringIncludes(guest.stdout, "You said: hello", guest.stderr);
      // A process of its own, whose end is noticed: no Worker of the launcher.
      assertStringIncludes((await home.run(["status"])).stdout, "The service is running");
      await service.kill();
    }
    await using service = await home.start(["gateway", "--json"]);
    assertEquals(await service.stop(), 0, service.log());
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

/** Whether `denort` was named for this machine: it can't be fetched from everywhere. */
const RUNTIME = { what: "a denort that DENORT_BIN names", isThere: Deno.env.has("DENORT_BIN") };

Deno.test(needs("the compiled binary answers, and serves a page", RUNTIME), async () => {
  const dir = await Deno.makeTempDir({ prefix: "compiled-" });
  try {
    await makeBuilt(`${dir}/built`);
    const binary = `${dir}/service`;
    assertEquals(
      await makeCompiled(binary, { target: ownTarget()!, built: `${dir}/built` }),
      undefined,
    );
    await Deno.remove(`${dir}/built`, { recursive: true });
    const { code, stdout, stderr } = await new Deno.Command(binary, {
      args: ["agent", "-m", '/tool list_files {"path":"."}'],
      clearEnv: true,
      env: { HOME: dir, PATH: "/usr/bin:/bin" },
    }).output();
    const text = new TextDecoder();
    assertEquals(code, 0, text.decode(stderr));
    assertStringIncludes(text.decode(stdout), "list_files answered");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("a binary whose runtime can't be had is not made, and says what to do", async () => {
  const dir = await Deno.makeTempDir({ prefix: "compiled-" });
  const named = Deno.env.get("DENORT_BIN");
  Deno.env.set("DENORT_BIN", `${dir}/denort-that-is-not-there`);
  try {
    await Deno.mkdir(`${dir}/built/cli`, { recursive: true });
    await Deno.writeTextFile(`${dir}/built/deno.json`, "{}");
    await Deno.writeTextFile(`${dir}/built/cli/main.js`, "");
    const target = ownTarget()!;
    const problem = await makeCompiled(`${dir}/service`, { target, built: `${dir}/built` });
    assertStringIncludes(
      problem ?? "",
      `can't be had for ${target.title}. Name one with DENORT_BIN`,
    );
  } finally {
    if (named === undefined) Deno.env.delete("DENORT_BIN");
    else Deno.env.set("DENORT_BIN", named);
    await Deno.remove(dir, { recursive: true });
  }
});
