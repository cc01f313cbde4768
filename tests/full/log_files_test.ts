/** Where the log of a service goes that has a file for it (`log.file`), and what becomes of a full one. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { makeHome } from "../support/home.ts";

const GATEWAY = ["gateway", "--json"];

Deno.test("log.file has the lines of all processes, and a full file is set aside compressed", async () => {
  await using home = await makeHome({
    log: { file: "logs/mine.log", rotateMiB: 1, compress: true },
  });
  const logs = `${home.dir}/home/logs`;
  await Deno.mkdir(logs, { recursive: true });
  const old = "2020-01-01T00:00:00.000Z info old\n".repeat(32_000);
  await Deno.writeTextFile(`${logs}/mine.log`, old);
  {
    await using gateway = await home.start(GATEWAY);
    const status = await home.run(["status"]);
    assertStringIncludes(status.stdout, `Log:       ${logs}/mine.log`);
    assertEquals(await gateway.stop(), 0);
    assertEquals(gateway.log(), "");
  }
  const log = await Deno.readTextFile(`${logs}/mine.log`);
  assertMatch(log, /info WebSocket port accepts[^]*info Stopped interrupted=0\n$/);
  assert(!log.includes("2020"));
  assertEquals([...Deno.readDirSync(logs)].map(({ name }) => name).sort(), [
    "mine.log",
    "mine.log.1.gz",
  ]);
  const { stdout } = await home.run(["logs", "-n", "40000"]);
  assertEquals(stdout, old + log);
});

Deno.test("a log.file that can't be written, or may not be, stops the start and says so", async () => {
  await using home = await makeHome();
  const start = async (name: string) => {
    await home.configure({ log: { file: name } });
    const { code, stderr } = await home.run(["gateway"]);
    assertEquals(code, 3, stderr);
    return stderr;
  };
  assertMatch(await start("/dev/null/x.log"), /log\.file .*"\/dev\/null\/x.log" can't be used/);
  assertMatch(await start(home.dir), /Can't write the log ".*": Is a directory .*log\.file/);
  assertStringIncludes(await start("audit/audit.jsonl"), "is inside the home");
  assertStringIncludes(await start("workspace/x.log"), "is inside the workspace");
});
