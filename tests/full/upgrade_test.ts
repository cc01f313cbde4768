/** A released program replaces itself, with its service running, and goes back. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RELEASE_INFO_FILE } from "../../cli/upgrade/release_info.ts";
import {
  newKey,
  programName,
  serveRelease,
  writeRelease,
} from "../../cli/upgrade/testing/release_folder.ts";
import { VERSION } from "../../cli/version.ts";
import { makeSelfExtracting } from "../../release/self_extracting.ts";
import { makeBuilt } from "../support/built_form.ts";
import { needs } from "../support/needs.ts";
import { FULL_RUN } from "../support/rounds.ts";
import { FILE_PROGRAMS, ownTarget } from "../support/small_file.ts";

const NEXT = "99.0.0";

/** Makes the built form another version, which says that it knows a newer database. */
async function makeNext(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) await makeNext(path);
    else if (name.endsWith(".js")) {
      const text = await Deno.readTextFile(path);
      const changed = text.replaceAll(`VERSION = "${VERSION}"`, `VERSION = "${NEXT}"`)
        .replaceAll(/databaseVersion: MIGRATIONS\.at\(-1\)\.version/g, "databaseVersion: 999");
      if (changed !== text) await Deno.writeTextFile(path, changed);
    }
  }
}

Deno.test({
  ...needs(
    "a released program upgrades itself and its service, backs up first, and goes back",
    ...["Linux", ...FILE_PROGRAMS] as const,
    FULL_RUN,
  ),
  async fn() {
    const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "upgrade " }));
    const release = `${dir}/release/latest/download`;
    await using server = serveRelease(`${dir}/release`);
    const program = `${dir}/bin/service`;
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await new Deno.Command(program, {
        args,
        cwd: dir,
        clearEnv: true,
        env: { HOME: dir, PATH: `${dir}/bin:/usr/bin:/bin` },
        stdin: "null",
      }).output();
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    };
    const running = async () => JSON.parse((await run("status", "--json")).stdout);
    try {
      const key = newKey();
      const built = `${dir}/built`;
      await makeBuilt(built);
      await Deno.writeTextFile(
        `${built}/${RELEASE_INFO_FILE}`,
        JSON.stringify({ releasesUrl: server.url, publicKey: key.publicKey }),
      );
      const make = (path: string) =>
        makeSelfExtracting(path, {
          target: ownTarget()!,
          built,
          deno: Deno.execPath(),
          level: 1,
        });
      await Deno.mkdir(`${dir}/bin`);
      await make(program);
      await makeNext(built);
      await Deno.mkdir(release, { recursive: true });
      await make(`${release}/${programName(NEXT)}`);
      const changelog = `## ${NEXT}\n\n- Better.\n\n## ${VERSION}\n\n- Old.\n`;
      await writeRelease(release, { "CHANGELOG.md": changelog }, key);
      await Deno.mkdir(`${dir}/.service`);
      await Deno.writeTextFile(
        `${dir}/.service/config.json`,
        JSON.stringify({ channels: { websocket: { port: 0 } } }),
      );

      const started = await run("start");
      assertEquals(started.code, 0, started.stderr);
      const before = await running();
      assertEquals(before.version, VERSION);

      const planned = await run("upgrade", "--dry-run");
      assertEquals(planned.code, 0, planned.stderr);
      assertStringIncludes(planned.stderr, `service ${VERSION} → ${NEXT}\n  ## ${NEXT}\n`);
      assert(!planned.stderr.includes("Old."));
      assertEquals((await run("--version")).stdout, `service ${VERSION}\n`);

      const upgraded = await run("upgrade");
      assertEquals(upgraded.code, 0, upgraded.stderr);
      assertMatch(upgraded.stderr, /^Downloading service 99\.0\.0, [\d.]+ MB$/m);
      assertStringIncludes(upgraded.stderr, `Upgraded ${program} to ${NEXT}.`);
      assertStringIncludes(upgraded.stderr, `Restarted the service in ${dir}/.service\n`);
      const [, backup] = /^Backed up to (.*)$/m.exec(upgraded.stderr)!;
      assertEquals((await run("restore", backup!, "--verify")).code, 0);
      const after = await running();
      assertEquals([after.version, after.pid === before.pid], [NEXT, false]);

      const newest = await run("upgrade");
      assertEquals([newest.code, newest.stderr], [0, `This is the newest version: ${NEXT}\n`]);
      const back = await run("upgrade", "--back");
      assertEquals(back.code, 0, back.stderr);
      assertEquals((await running()).version, VERSION);
      assertEquals((await run("--version")).stdout, `service ${VERSION}\n`);
    } finally {
      await run("stop", "--force").catch(() => {});
      await Deno.remove(dir, { recursive: true });
    }
  },
});
