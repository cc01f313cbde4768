import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { homedir } from "node:os";
import { needs } from "../../tests/support/needs.ts";
import { FULL_RUN, NO_SANDBOX } from "../../tests/support/rounds.ts";
import {
  makeDocx,
  makeEach,
  makePdf,
  makeXlsx,
  partOf,
  withParts,
} from "./testing/make_documents.ts";
import { makeEncryptedOffice, makeEncryptedPdf } from "./testing/encrypted.ts";
import { MAX_FILE_BYTES, MEDIA_TYPES } from "../contract/documents.ts";
import { ServiceError } from "../base/errors.ts";
import {
  createDocumentReader,
  type DocumentReaderOptions,
  type OwnedDocumentReader,
} from "./documents.ts";
import { findDenoDir } from "../packages/deno_dir.ts";
import { encodeFrame, FrameReader } from "../rpc/frames.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const CHILD = new URL("../authority/testing/document_child.ts", import.meta.url);
const denoDir = findDenoDir({
  env: (name) => Deno.env.get(name),
  cwd: Deno.cwd(),
  home: homedir,
  os: Deno.build.os,
});

interface Setup {
  /** A reader; `entry` is bound into the sandbox beside what every reader has there. */
  make(more?: Partial<DocumentReaderOptions>): OwnedDocumentReader;
  confined: boolean;
  /** What was logged. */
  logged: string[];
}

/** Runs a test with a sandbox, where there is one, and without; `isLong`: in the full run alone. */
function testBoth(
  name: string,
  test: (setup: Setup) => Promise<void>,
  { isLong = false } = {},
): void {
  for (const sandbox of ["auto", "off"] as const) {
    const confined = sandbox === "auto";
    Deno.test({
      ...needs(
        `${name} (${confined ? "in the sandbox" : "without a sandbox"})`,
        confined ? "bubblewrap" : NO_SANDBOX,
        isLong && FULL_RUN,
      ),
      async fn() {
        const cacheDir = await Deno.makeTempDir();
        const readers: OwnedDocumentReader[] = [];
        const logged: string[] = [];
        const write = (message: string, data?: object) =>
          void logged.push(`${message} ${JSON.stringify(data)}`);
        const log = { debug: write, info: write, warning: write, error: write };
        try {
          await test({
            confined,
            logged,
            make(more) {
              const reader = createDocumentReader({ cacheDir, denoDir, log, sandbox, ...more });
              readers.push(reader);
              return reader;
            },
          });
        } finally {
          await Promise.all(readers.map((reader) => reader.shutdown()));
          await Deno.remove(cacheDir, { recursive: true });
        }
      },
    });
  }
}

const never = new AbortController().signal;

function extract(reader: OwnedDocumentReader, bytes: Uint8Array | string, signal = never) {
  const document = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  return reader.extract({ name: "my file", bytes: document }, { signal });
}

async function refusal(
  reader: OwnedDocumentReader,
  bytes: Uint8Array | string,
): Promise<[string, string]> {
  const { code, message } = await assertRejects(() => extract(reader, bytes), ServiceError);
  return [code, message];
}

testBoth("extract() reads each format in a child", async ({ make, logged }) => {
  const reader = make();
  for (const [format, bytes] of Object.entries(await makeEach())) {
    const { mediaType, text } = await extract(reader, bytes);
    assertEquals(mediaType, MEDIA_TYPES[format as keyof typeof MEDIA_TYPES]);
    assertMatch(text, /first page|A paragraph|sheet "Numbers"|A slide/);
  }
  assertEquals(logged, []);
});

testBoth("extract() refuses a document with its name and the reason", async ({ make }) => {
  const reader = make();
  const encrypted = "it is encrypted; expected a file that opens without a password";
  const { docx } = await makeEach();
  const cases: [Uint8Array | string, string, string][] = [
    [makeEncryptedPdf("a", "b"), "unreadable_document", encrypted],
    [makeEncryptedOffice(), "unreadable_document", encrypted],
    [docx.slice(0, -100), "unreadable_document", "it is corrupt or cut off"],
    ["", "unreadable_document", "it is empty"],
    [
      "some text",
      "unsupported_media_type",
      "it is of no known type; expected a PDF, .docx, .xlsx or .pptx file",
    ],
  ];
  for (const [bytes, code, reason] of cases) {
    assertEquals(await refusal(reader, bytes), [code, `Cannot read "my file": ${reason}`]);
  }
  await reader.shutdown();
  assertEquals(reader.counts(), { running: 0, waiting: 0 });
});

testBoth("extract() takes 10 MiB exactly", async ({ make }) => {
  const reader = make({ entry: CHILD });
  const { text } = await extract(reader, new Uint8Array(MAX_FILE_BYTES));
  assertEquals(text, String(MAX_FILE_BYTES));
  assertEquals(await refusal(reader, new Uint8Array(MAX_FILE_BYTES + 1)), [
    "unreadable_document",
    'Cannot read "my file": it is larger than 10 MiB',
  ]);
});

testBoth(
  "a document's child may do nothing but import what the project lists",
  async ({ make, confined }) => {
    const reader = make({ entry: CHILD });
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { text } = await extract(reader, `try:${listener.addr.port}`);
    const outcomes: Record<string, string> = JSON.parse(text);
    assert(Object.keys(outcomes).length > 10);

    for (const [name, outcome] of Object.entries(outcomes)) {
      // In the sandbox there is neither a program to run nor a resolver to ask.
      const isMissing = confined && /^(look up|run with)/.test(name) && outcome === "Error";
      const expected = name.startsWith("import") ? "TypeError" : isMissing ? "Error" : "NotCapable";
      assertEquals([name, outcome], [name, expected]);
    }
    assertEquals((await extract(reader, "import")).text, "function");
  },
);

testBoth("a promise that a library left behind does not end its child", async ({ make }) => {
  const reader = make({ entry: CHILD });
  assertEquals((await extract(reader, "leave a promise behind")).text, "still here");
});

testBoth("extract() ends a child that takes too long", async ({ make }) => {
  const reader = make({ entry: CHILD, timeoutMs: 1_000 });
  for (const how of ["hang", "spin"]) {
    assertEquals(await refusal(reader, how), [
      "unreadable_document",
      'Cannot read "my file": it takes longer than 1 s',
    ]);
  }
});

testBoth("extract() ends a child that takes too much memory", async ({ make }) => {
  const reader = make({ entry: CHILD });
  const memory = [
    "unreadable_document",
    'Cannot read "my file": it takes more memory than one document may use',
  ];
  assertEquals(await refusal(reader, "eat heap"), memory);
});

Deno.test({
  // The limit is the system\'s, set by the shell.
  ...needs("extract() bounds buffers beside the heap", "Linux"),
  async fn() {
    const cacheDir = await Deno.makeTempDir();
    const silent = () => {};
    const log = { debug: silent, info: silent, warning: silent, error: silent };
    const reader = createDocumentReader({ cacheDir, denoDir, log, entry: CHILD });
    const [code, message] = await refusal(reader, "eat buffers");
    // The library would say that an allocation failed; this child says nothing of the kind.
    assertEquals(code, "executor_fault", message);
    await reader.shutdown();
    await Deno.remove(cacheDir, { recursive: true });
  },
});

testBoth("extract() takes nothing for a text that is not one", async ({ make, logged }) => {
  const reader = make({ entry: CHILD });
  for (
    const how of ["nonsense", "another type", "another code", "too much", "a path"]
  ) {
    const [code, message] = await refusal(reader, `answer ${how}`);
    assertEquals([how, code], [how, "executor_fault"]);
    assertStringIncludes(message, "answered no known text");
  }
  assertEquals((await refusal(reader, "die"))[0], "executor_fault");
  assertEquals((await refusal(reader, "throw"))[0], "executor_fault");
  // What is broken in the program is for its operator, not for the one who sent a document.
  assert(logged.some((line) => line.includes("an error of the program")));
});

testBoth(
  "extract() kills its child when it is aborted, and gives its place on",
  async ({ make }) => {
    const reader = make({ entry: CHILD });
    const controller = new AbortController();
    const hanging = ["hang", "spin"].map((how) =>
      extract(reader, how, controller.signal).catch((error) => error)
    );
    const second = new AbortController();
    const waiting = extract(reader, "x", second.signal).catch((error) => error);
    const next = extract(reader, "xyz");
    assertEquals(reader.counts(), { running: 2, waiting: 2 });
    second.abort(new Error("left"));
    assertEquals((await waiting).message, "left");
    controller.abort(new Error("gone"));
    assertEquals((await next).text, "3");
    assertEquals((await Promise.all(hanging)).map(({ message }) => message), ["gone", "gone"]);
    const aborted = AbortSignal.abort(new Error("before"));
    await assertRejects(() => extract(reader, "x", aborted), Error, "before");
  },
);

testBoth("extract() lets 64 wait, and asks others to come again", async ({ make }) => {
  const reader = make({ entry: CHILD });
  const controller = new AbortController();
  const waiting = Array.from(
    { length: 66 },
    () => extract(reader, "hang", controller.signal).catch(() => "aborted"),
  );
  assertEquals(reader.counts(), { running: 2, waiting: 64 });
  const error = await assertRejects(() => extract(reader, "x"), ServiceError);
  assertEquals([error.code, error.details.retryAfterS], ["overloaded", 1]);
  controller.abort();
  assertEquals(new Set(await Promise.all(waiting)), new Set(["aborted"]));
  assertEquals((await extract(reader, "x")).text, "1");
});

testBoth("shutdown() kills every child, and refuses what comes later", async ({ make }) => {
  const reader = make({ entry: CHILD });
  const codes = ["hang", "spin", "x"].map((how) =>
    extract(reader, how).then(() => "done", (error) => error.code)
  );
  await reader.shutdown();
  assertEquals(await Promise.all(codes), ["draining", "draining", "draining"]);
  assertEquals((await refusal(reader, "x"))[0], "draining");
});

testBoth("extract() ends on hostile documents within their limits", async ({ make }) => {
  // A busy machine may take ten times as long.
  const reader = make({ timeoutMs: 300_000 });
  const sheet = "xl/worksheets/sheet1.xml";
  const one = makeXlsx({ S: [["x"]] });
  const rows = `<row>${"<c><v>1</v></c>".repeat(16)}</row>`.repeat(500_000);
  const million = Array.from(
    { length: 100_000 },
    (_, n) => `<row>${"<c><v>1</v></c>".repeat(10).replace("1", String(n))}</row>`,
  ).join("");
  const put = (data: string) =>
    withParts(one, {
      [sheet]: partOf(one, sheet).replace(/<sheetData>.*<\/sheetData>/s, () =>
        `<sheetData>${data}</sheetData>`),
    });
  const { text } = await extract(reader, put(million));
  assertMatch(text, /cut here: these are the first 200,000 of /);
  // Eight million cells: a text with a note, or the reason, by the memory that this machine's Deno takes.
  const huge = await extract(reader, put(rows)).then(({ text }) => text, ({ message }) => message);
  assertMatch(huge, /rows 1 to 30,000 of each sheet were read|more memory than/);
  const pages = await extract(reader, await makePdf(Array(5_000).fill("page")));
  assertStringIncludes(pages.text, "[pages 1 to 200 of 5,000 were read; 4,800 are left out]");
  const docx = await makeDocx(["x"]);
  const nested = "<w:r>".repeat(200_000) + "</w:r>".repeat(200_000);
  const deep = partOf(docx, "word/document.xml").replace("<w:r>", () => `<w:r>${nested}`);
  assertEquals(
    (await refusal(reader, withParts(docx, { "word/document.xml": deep })))[0],
    "unreadable_document",
  );
}, { isLong: true });

Deno.test("findDenoDir() follows the rules of Deno", () => {
  const find = (
    env: Record<string, string>,
    os: typeof Deno.build.os = "linux",
    home: string | null = null,
  ) => findDenoDir({ env: (name) => env[name], cwd: "/start", home: () => home, os });
  assertEquals(find({ DENO_DIR: "/a", XDG_CACHE_HOME: "/b", HOME: "/c" }), "/a");
  assertEquals(find({ DENO_DIR: "a", HOME: "/c" }), "/start/a");
  assertEquals(find({ DENO_DIR: "../a", HOME: "/c" }), "/a");
  assertEquals(find({ DENO_DIR: "", XDG_CACHE_HOME: "/b", HOME: "/c" }), "/b/deno");
  assertEquals(find({ HOME: "/c" }), "/c/.cache/deno");
  assertEquals(find({ HOME: "/c/" }), "/c/.cache/deno");
  assertEquals(find({ HOME: "/c" }, "darwin"), "/c/Library/Caches/deno");
  assertEquals(find({}, "linux", "/root"), "/root/.cache/deno");
  assertEquals(find({}), undefined);
});

Deno.test("runAsChild() reads documents too, with nothing permitted", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--cached-only",
      ...lockedFlags(),
      "--unstable-worker-options",
      new URL("../executor/child.ts", import.meta.url).href,
      "__child",
      "extract_document",
      JSON.stringify({ read: [], write: [], net: [], denyNet: [] }),
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const { docx } = await makeEach();
  const writer = child.stdin.getWriter();
  const task = {
    tool: "extract_document",
    args: {},
    workspace: "/",
    maxOutputBytes: 1_000_000,
  };
  const call = { type: "call", id: 1, method: "run", params: task, bytes: new Uint8Array(docx) };
  for (const bytes of encodeFrame(call)) await writer.write(bytes);
  const frames = new FrameReader();
  const answered = Promise.withResolvers<unknown>();
  const reading = (async () => {
    for await (const chunk of child.stdout) {
      for (const frame of frames.push(chunk)) answered.resolve(frame);
    }
  })();
  const { result } = await answered.promise as { result: { type: string; output: string } };
  assertEquals([result.type, JSON.parse(result.output).text], [
    "result",
    "A paragraph\n\nAnother one",
  ]);
  await writer.close();
  assertEquals((await child.status).code, 3);
  await reading;
});
