/** What a start does when the database is not the one that the service closed. */

import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";

const SERVE = ["serve", "--port", "0", "--json"];

async function say(home: TestHome, text: string): Promise<void> {
  const { code, stderr } = await home.run(["agent", "-m", text, "--session", "s"]);
  assertEquals(code, 0, stderr);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

const LOSSES: Record<string, (database: string) => Promise<void>> = {
  "is missing": (database) => Deno.remove(database),
  "is empty": (database) => Deno.truncate(database),
  "is missing with its folder": (database) =>
    Deno.remove(database.replace(/\/[^/]*$/, ""), { recursive: true }),
};

Deno.test("a database that is lost stops the start, until a new one is asked for", async (t) => {
  await using home = await makeHome({});
  const database = `${home.dir}/home/data/service.db`;
  {
    await using service = await home.start();
    // As after a crash: nothing of the home was put in order.
    await service.kill();
  }
  for (const [what, lose] of Object.entries(LOSSES)) {
    await t.step(what, async () => {
      await lose(database);
      const size = await exists(database) ? 0 : undefined;
      for (const args of [SERVE, ["agent", "-m", "hi"]]) {
        const { code, stderr } = await home.run(args);
        assertEquals(code, 1);
        assertStringIncludes(stderr, database);
        assertStringIncludes(stderr, "--new-journal");
      }
      assertEquals(await exists(database) ? (await Deno.stat(database)).size : undefined, size);
      const doctor = await home.run(["doctor"]);
      assertStringIncludes(doctor.stdout, "--new-journal");
      await using service = await home.start([...SERVE, "--new-journal"]);
      await service.kill();
    });
  }
  await say(home, "hi");
});

Deno.test("a database that is damaged stops the start, which points to the doctor", async () => {
  await using home = await makeHome({});
  await say(home, "hi");
  const database = `${home.dir}/home/data/service.db`;
  const bytes = await Deno.readFile(database);
  // The first page, behind the header: the tables themselves.
  await Deno.writeFile(database, bytes.fill(0xff, 100, 4_096));
  const { code, stderr } = await home.run(SERVE);
  assertEquals(code, 1);
  assertStringIncludes(stderr, database);
  assertStringIncludes(stderr, "service doctor");
});

/** The epoch of a chat. */
async function epochOf(home: TestHome): Promise<string> {
  await using gateway = await home.start(["gateway", "--json"]);
  const socket = new WebSocket(gateway.wsUrl);
  const attached = Promise.withResolvers<string>();
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    if (frame.event === "ready") {
      socket.send(JSON.stringify({ type: "attach", chat_id: frame.chat_id }));
    } else if (frame.event === "attached") attached.resolve(frame.epoch);
  };
  socket.onclose = () => attached.reject(new Error("The connection was closed"));
  const epoch = await attached.promise;
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
  assertEquals(await gateway.stop(), 0, gateway.log());
  return epoch.split(".")[0]!;
}

Deno.test(
  needs("a backup that is put back has another epoch, however it is put back", "cp"),
  async () => {
    await using home = await makeHome({
      channels: { websocket: { websocketRequiresToken: false } },
    });
    const folder = `${home.dir}/home`;
    const database = `${folder}/data/service.db`;
    const first = await epochOf(home);
    assert(first.length > 0);
    const backup = await Deno.readFile(database);
    const copyHome = (from: string, to: string) =>
      new Deno.Command("cp", { args: ["-a", from, to] }).output();
    await copyHome(folder, `${home.dir}/backup`);
    assertEquals(await epochOf(home), first, "nothing was put back");

    await Deno.writeFile(database, backup);
    const second = await epochOf(home);
    assertNotEquals(second, first, "written into the file");
    assertEquals(await epochOf(home), second, "and only once");

    await Deno.writeFile(`${database}.old`, backup);
    await Deno.rename(`${database}.old`, database);
    const third = await epochOf(home);
    assertNotEquals(third, first, "in place of the file");

    await Deno.remove(folder, { recursive: true });
    await copyHome(`${home.dir}/backup`, folder);
    assertNotEquals(await epochOf(home), first, "with the whole home");
  },
);
