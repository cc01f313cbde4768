import { assert, assertEquals } from "@std/assert";
import { readRotated, rotatedFiles } from "./rotated_files.ts";
import { type LogRotation, type RotatedLog, rotatedLog } from "./rotated_log.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (found: Uint8Array | undefined) => found && new TextDecoder().decode(found);
const DAY_MS = 86_400_000;

interface TestLog {
  path: string;
  clock: { now: number };
  /** Another one on the same file. */
  open(): RotatedLog;
  write(text: string): Promise<number>;
  settled(): Promise<void>;
  /** What was set aside, the newest first. */
  aside(): Promise<(string | undefined)[]>;
}

async function withLog(
  rotation: Partial<LogRotation>,
  use: (log: TestLog) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/service.log`;
  const clock = { now: Date.UTC(2030, 0, 1) };
  const whole = { maxBytes: 10, maxAgeMs: 0, keepFiles: 4, compress: false, ...rotation };
  const open = () => rotatedLog(path, whole, () => clock.now);
  const log = open();
  try {
    await use({
      path,
      clock,
      open,
      write: (text) => log.write(bytes(text)),
      settled: () => log.settled(),
      async aside() {
        const kept = await rotatedFiles(path);
        return await Promise.all(
          kept.map(async ({ number }) => textOf(await readRotated(path, number))),
        );
      },
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("rotatedLog() keeps the newest files, each within the bound, for their owner alone", () =>
  withLog({}, async ({ path, write, aside }) => {
    for (let line = 1; line <= 7; line++) await write(`line ${line}\n`);
    assertEquals(await Deno.readTextFile(path), "line 7\n");
    assertEquals(await aside(), ["line 6\n", "line 5\n", "line 4\n", "line 3\n"]);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    assertEquals((await Deno.stat(`${path}.4`)).mode! & 0o777, 0o600);
  }));

Deno.test("rotatedLog() keeps as many files as it is told, none too", async () => {
  for (const keepFiles of [0, 1, 2]) {
    await withLog({ keepFiles }, async ({ write, aside }) => {
      for (let line = 1; line <= 5; line++) await write(`line ${line}\n`);
      assertEquals(await aside(), ["line 4\n", "line 3\n"].slice(0, keepFiles));
    });
  }
});

Deno.test("rotatedLog() sets a file aside when its first line is too old, also after a restart", () =>
  withLog({ maxBytes: 1_000, maxAgeMs: DAY_MS }, async ({ clock, open, write, aside }) => {
    await write("2030-01-01T00:00:00.000Z info one\n");
    clock.now += DAY_MS - 1;
    await write("2030-01-01T23:59:59.999Z info two\n");
    assertEquals(await aside(), []);
    clock.now += 1;
    const line = '{"time":"2030-01-02T00:00:00.000Z","message":"three"}\n';
    await open().write(bytes(line));
    assertEquals(await aside(), [
      "2030-01-01T00:00:00.000Z info one\n2030-01-01T23:59:59.999Z info two\n",
    ]);
    clock.now += DAY_MS;
    await write("no time\n");
    assertEquals((await aside())[0], line);
    clock.now += 9 * DAY_MS;
    await write("still\n");
    assertEquals((await aside()).length, 2);
  }));

Deno.test("rotatedLog() compresses what was set aside, whole or not at all", () =>
  withLog({ compress: true }, async ({ path, write, settled, aside }) => {
    for (let line = 1; line <= 6; line++) await write(`line ${line}\n`);
    await settled();
    assertEquals((await rotatedFiles(path)).map(({ name }) => name), [
      "service.log.1.gz",
      "service.log.2.gz",
      "service.log.3.gz",
      "service.log.4.gz",
    ]);
    assertEquals(await aside(), ["line 5\n", "line 4\n", "line 3\n", "line 2\n"]);
    assertEquals((await Deno.stat(`${path}.1.gz`)).mode! & 0o777, 0o600);
    // Nothing half done stays where it cannot be compressed.
    await Deno.mkdir(`${path}.1.gz.part/x`, { recursive: true });
    await write("line 7\n");
    await settled();
    assertEquals((await aside())[0], "line 6\n");
  }));

Deno.test("rotatedLog() stays bounded where no copy can be made", () =>
  withLog({}, async ({ path, write }) => {
    // A folder that holds something cannot be replaced by a file.
    await Deno.mkdir(`${path}.1/x`, { recursive: true });
    for (let line = 0; line < 50; line++) {
      await write("12345\n");
      const { size } = await Deno.stat(path);
      assertEquals(size <= 26, true, String(size));
    }
    assert((await Deno.stat(`${path}.1/x`)).isDirectory);
  }));

Deno.test("rotatedLog() goes on in a new file when somebody moved the log", () =>
  withLog({ maxBytes: 100 }, async ({ path, write }) => {
    await write("one\n");
    await Deno.rename(path, `${path}.moved`);
    await write("two\n");
    assertEquals(await Deno.readTextFile(path), "two\n");
    assertEquals(await Deno.readTextFile(`${path}.moved`), "one\n");
  }));

Deno.test("rotatedLog() of several at once loses no line and says none twice", async () => {
  const rotation = { maxBytes: 1_000, keepFiles: 1_000, compress: false };
  await withLog(rotation, async ({ path, open, aside }) => {
    const script = new URL("./testing/log_writer.ts", import.meta.url).href;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "-A", "--no-lock", "--no-config", script, path, "300"],
      stderr: "inherit",
    }).output();
    const write = async (name: string) => {
      const log = open();
      for (let line = 0; line < 300; line++) await log.write(bytes(`${name} ${line}\n`));
    };
    const [{ success }] = await Promise.all([child, write("a"), write("b")]);
    assert(success);
    const lines = [...await aside(), await Deno.readTextFile(path)].join("").trim().split("\n");
    const wanted = ["a", "b", "child"].flatMap((name) =>
      Array.from({ length: 300 }, (_, line) => `${name} ${line}`)
    );
    assertEquals(lines.sort(), wanted.sort());
    assert((await aside()).length > 5);
  });
});
