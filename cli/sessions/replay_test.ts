import { assertEquals, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { runSessions } from "../commands/sessions.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { processFiles } from "./replay.ts";

const TURN = "tests/turns/denied_approval.json";
const text = await Deno.readTextFile(new URL(`../../${TURN}`, import.meta.url));
const recording = JSON.parse(text);

/** A recording whose model said something else. */
function otherwise() {
  const changed = structuredClone(recording);
  changed.answers[1][0].text = "It is done.";
  return changed;
}

async function run(
  args: string[],
  { options = {}, json = false, files = {}, answer = () => recording }: {
    options?: Record<string, string>;
    json?: boolean;
    files?: Record<string, string>;
    answer?: (request: object) => unknown;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const asked: object[] = [];
  const written: Record<string, string> = {};
  const client = new FakeClient(operations({
    "sessions.recording"(request: object) {
      asked.push(request);
      return answer(request);
    },
  }));
  const code = await runSessions({
    subcommand: "replay",
    args,
    options,
    globals: { lastGood: false, json, verbose: false },
    out,
  }, {
    confirm: () => {
      throw new Error("Nothing is asked");
    },
    withService: (_, use) => use(client),
    files: {
      read: (path) => Promise.resolve(files[path]!),
      write: (path, text) => Promise.resolve(void (written[path] = text)),
    },
  });
  return { code, stdout: stdout.text, stderr: stderr.text, asked, written };
}

Deno.test("replay() says that a session's last turn, or another one, comes to the same", async () => {
  const last = await run(["work"]);
  assertEquals([last.code, last.stderr], [0, ""]);
  assertEquals(last.stdout, "The same: 12 events, 2 model calls, 1 tool call\n");
  assertEquals<unknown>(last.asked, [{
    op: "sessions.recording",
    key: "cli:work",
    turn: undefined,
  }]);
  const second = await run(["api:x"], { options: { turn: "2" }, json: true });
  assertEquals<unknown>(second.asked, [{ op: "sessions.recording", key: "api:x", turn: 2 }]);
  assertEquals(JSON.parse(second.stdout), {
    same: true,
    events: 12,
    model_calls: 2,
    tool_calls: 1,
  });
});

Deno.test("replay() shows the first difference and ends with 1", async () => {
  const found = await run(["work"], { answer: otherwise });
  assertEquals(found.code, 1);
  assertEquals(
    found.stdout,
    `Different at event 9 of 12: text_delta, field text
  recorded: "You denied it, so /srv/plans.txt is as it was."
  now:      "It is done."
`,
  );
  const json = JSON.parse((await run(["work"], { answer: otherwise, json: true })).stdout);
  assertEquals(json.difference, {
    event: 9,
    type: "text_delta",
    field: "text",
    recorded: "You denied it, so /srv/plans.txt is as it was.",
    replayed: "It is done.",
  });
});

Deno.test("replay() saves a turn, and runs it from its file without a service", async () => {
  const { code, stderr, written } = await run(["work"], { options: { save: "bug.json" } });
  assertEquals(code, 0);
  assertStringIncludes(stderr, "read it before you share it");
  assertEquals(JSON.parse(written["bug.json"]!), recording);
  const again = await run(["./bug.json"], { files: { "./bug.json": written["bug.json"]! } });
  assertEquals([again.code, again.asked], [0, []]);
});

Deno.test("replay() ends with 2 and the reason where a turn can't be replayed", async () => {
  const refused = await run(["work"], {
    answer() {
      throw new ServiceError("conflict", "Turn 1 of cli:work can't be replayed: it hasn't ended");
    },
  });
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, "it hasn't ended");
  const damaged = await run(["a.json"], { files: { "a.json": text.slice(9) } });
  assertEquals(damaged.code, 2);
  assertStringIncludes(damaged.stderr, "a.json: Invalid recording: it isn't JSON");
  const twice = await run(["a.json"], { options: { turn: "1" } });
  assertEquals(twice.code, 2);
  assertStringIncludes(twice.stderr, "Option --turn is for a session");
});

Deno.test("processFiles writes no file anew, and reads none that is too large", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const path = `${dir}/a.json`;
    await processFiles.write(path, "text");
    assertEquals(await processFiles.read(path, 4), "text");
    const messages: string[] = [];
    const failed = (error: ServiceError) => void messages.push(`${error.code}: ${error.message}`);
    await processFiles.write(path, "other").catch(failed);
    await processFiles.read(path, 3).catch(failed);
    await processFiles.read(dir, 3).catch(failed);
    assertEquals(messages, [
      `usage: Cannot save to ${path}: there is such a file already`,
      `too_large: The file is larger than ${3 / 1024 ** 2} MiB`,
      "usage: Not a file",
    ]);
    if (Deno.build.os !== "windows") {
      assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
