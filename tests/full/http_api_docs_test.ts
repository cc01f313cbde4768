/**
 * Runs docs/http-api.md: its shell and TypeScript blocks against a real service, what they print
 * compared with what the page shows, and everything that was sent and answered held against the
 * OpenAPI document. A block that this cannot run or check is a failure.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { configSchema } from "../../lib/config/schema.ts";
import { MAX_FILES, MAX_FILES_BYTES } from "../../lib/documents/read_upload.ts";
import {
  EXTRACT_TIMEOUT_MS,
  MAX_ARCHIVE_BYTES,
  MAX_ARCHIVE_MEMBERS,
  MAX_FILE_BYTES,
  MAX_PDF_PAGES,
  MAX_TEXT_CHARS,
} from "../../lib/contract/documents.ts";
import { type AccessEntry, createAccessLog } from "../../lib/http/access_log.ts";
import { OPERATIONS } from "../../lib/http/api/openapi/operations.ts";
import { Conformance } from "../../lib/http/api/openapi/testing/conformance.ts";
import { REPEAT_GRACE_MS } from "../../lib/http/api/readers.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../lib/base/json_bounds.ts";
import { MAX_PARTS } from "../../lib/http/multipart.ts";
import { KEEP_ALIVE_MS } from "../../lib/http/sse.ts";
import { type Behaviour, type RecordedRequest, startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { type MarkdownBlock, markdownBlocks } from "../support/markdown_blocks.ts";
import { needs } from "../support/needs.ts";
import { type Exchange, startRecordingProxy } from "../support/recording_proxy.ts";
import { differenceFromShown, isShownText } from "../support/shown_output.ts";
import { lockedFlags } from "../../lib/packages/locked_packages.ts";

const ROOT = new URL("../../", import.meta.url);
const KEY = "key-of-the-docs";
const page = await Deno.readTextFile(new URL("docs/http-api.md", ROOT));
const blocks = markdownBlocks(page);
const conformance = new Conformance();

/** What is done with a block. */
type Kind = "sh" | "ts" | "output" | "config" | "openwebui" | "log" | "value";

/** Throws for a block that nobody would run or check. */
function kindOf({ line, language, notes: [note = ""] }: MarkdownBlock): Kind {
  const info = `${language} ${note}`.trim();
  if (info === "sh" || info === "ts") return info;
  if (info === "text output" || info === "json output") return "output";
  if (info === "json config") return "config";
  if (info === "json openwebui") return "openwebui";
  if (info === "text log" || info === "json log") return "log";
  if (language === "json" && note in conformance.document.components.schemas) return "value";
  throw new Error(`docs/http-api.md, line ${line}: a block "${info}" cannot be run or checked`);
}

/** What the model of the examples answers. */
function answerTo({ body: { messages } }: RecordedRequest): Behaviour {
  const all = JSON.stringify(messages);
  const last = JSON.stringify(messages.at(-1));
  const says = (condition: boolean, text: string) => ({
    text: condition ? text : "I cannot know.",
  });
  if (messages.at(-1).role === "tool" && all.includes("note.txt")) {
    return last.includes("Refused") ? { text: "I may not." } : { text: "It is there." };
  }
  if (messages.at(-1).role === "tool") return says(last.includes("milk"), "Buy milk.");
  // Apart in time, so that nothing on the way makes one piece of them.
  const delayMs = 5;
  if (last.includes("Say hello.")) return { text: "Hello there.", delayMs };
  if (last.includes("What is my name?")) return says(all.includes("is Ada"), "Your name is Ada.");
  if (last.includes("on this picture?")) return says(last.includes("image/png"), "One pixel.");
  if (last.includes("Who bought what?")) return says(last.includes("Ada,3"), "Ada bought three.");
  if (last.includes("What did you say?")) return says(all.includes("there."), "I said hello.");
  if (last.includes("a long story")) return { text: "Once upon a time", resetAfter: 3 };
  if (last.includes("in notes.md?")) {
    return { calls: [{ tool: "read_file", args: { path: "notes.md" } }] };
  }
  const note = /Write hello to (\S+note\.txt)/.exec(last);
  if (note !== null) {
    return { calls: [{ tool: "write_file", args: { path: note[1], content: "hello" } }] };
  }
  if (last.includes("Write the report.")) return { text: "It is written.", delayMs };
  if (last.includes("Count to a million.")) return { text: "One two three", hang: 3 };
  return { text: "Yes." };
}

/** The service of the examples, with all that they need, and what was said to it. */
async function startExamples() {
  const model = startModelServer({ script: answerTo });
  const home = await makeHome({
    agent: { model: "local/qwen3" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { apiKey: KEY, allowedOrigins: ["https://app.example"] },
  });
  await Deno.mkdir(`${home.dir}/home/workspace`, { recursive: true });
  await Deno.writeTextFile(`${home.dir}/home/workspace/notes.md`, "Buy milk\n");
  const issued = await home.run(["tokens", "issue", "--scopes", "approve"]);
  const service = await home.start();
  const proxy = startRecordingProxy(service.apiUrl);
  const env = {
    BASE: proxy.url,
    KEY,
    TOKEN: issued.stdout.trim(),
    PATH: Deno.env.get("PATH") ?? "",
    HOME: home.dir,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    NO_COLOR: "1",
  };
  return {
    model,
    proxy,
    log: service.log,
    dir: home.dir,
    /** Runs a program in the folder of the examples. Fails with what it said when it fails. */
    async run(command: string, args: string[]): Promise<string> {
      const { success, stdout, stderr } = await new Deno.Command(command, {
        args,
        cwd: home.dir,
        env,
        clearEnv: true,
        stdin: "null",
        signal: AbortSignal.timeout(120_000),
      }).output();
      const printed = new TextDecoder().decode(stdout);
      assert(success, `${printed}\n${new TextDecoder().decode(stderr)}`);
      return printed;
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** The block of output that belongs to a program: the next one. */
function outputOf(block: MarkdownBlock): MarkdownBlock | undefined {
  const next = blocks[blocks.indexOf(block) + 1];
  return next !== undefined && kindOf(next) === "output" ? next : undefined;
}

function assertShown(block: MarkdownBlock, printed: string): void {
  const shown = outputOf(block);
  if (shown === undefined) return assertEquals(printed, "", `line ${block.line} shows no output`);
  if (shown.language === "text") {
    assert(
      isShownText(shown.text, printed),
      `line ${shown.line} shows\n${shown.text}\nand it was\n${printed}`,
    );
    return;
  }
  const difference = differenceFromShown(JSON.parse(shown.text), JSON.parse(printed));
  assertEquals(difference, undefined, `line ${shown.line}, and it was\n${printed}`);
}

/** Holds everything that was said against the OpenAPI document. */
function assertConform(exchanges: readonly Exchange[]): void {
  for (const exchange of exchanges) {
    const { method, path, requestType, requestBody, status, body } = exchange;
    if (method === "OPTIONS") continue;
    const told = `${method} ${path} ${status}\n${requestBody}\n${body}`;
    assertEquals(conformance.problemsOfAnswer(exchange), [], told);
    if (requestType?.startsWith("application/json") && status < 400) {
      const problems = conformance.problemsOfRequest(method, path, JSON.parse(requestBody));
      assertEquals(problems, [], told);
    }
  }
}

Deno.test("docs/http-api.md has no block that cannot be run or checked", () => {
  const kinds = blocks.map((block) => kindOf(block));
  kinds.forEach((kind, index) => {
    if (kind !== "output") return;
    const before = kinds[index - 1];
    assert(before === "sh" || before === "ts", `line ${blocks[index]!.line}: whose output is it?`);
  });
  for (const kind of ["sh", "ts", "output", "config", "openwebui", "log", "value"] as const) {
    assert(kinds.includes(kind), `there is no block of the kind ${kind}`);
  }
});

Deno.test("docs/http-api.md lists every route, and no other", () => {
  const routes = [...page.matchAll(/^\| (GET|POST|DELETE) (\S.*?) +\|/gm)].flatMap(
    ([, method, paths]) => paths!.split(", ").map((path) => `${method} ${path}`),
  );
  assertEquals(
    routes.sort(),
    OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
  );
});

Deno.test({
  ...needs(
    "docs/http-api.md: the shell examples print what is shown, and ask every route",
    "bash",
    "curl",
  ),
  fn: async () => {
    await using examples = await startExamples();
    const scripts = blocks.filter((block) => kindOf(block) === "sh");
    const mark = "\u001e";
    // One shell for all, since later examples use what earlier ones made.
    const script = scripts.map(({ text, line }) => `printf '${mark}'\n# line ${line}\n${text}\n`);
    const printed = await examples.run("bash", ["-euo", "pipefail", "-c", script.join("")]);
    const outputs = printed.split(mark).slice(1);
    assertEquals(outputs.length, scripts.length);
    scripts.forEach((block, index) => assertShown(block, outputs[index]!));

    const { exchanges } = examples.proxy;
    assertConform(exchanges);
    for (const { method, path } of OPERATIONS) {
      const pattern = new RegExp(`^${path.replace("{id}", "[^?]+")}(\\?|$)`);
      assert(
        exchanges.some((one) =>
          one.method === method.toUpperCase() && pattern.test(one.path) && one.status < 400
        ),
        `no example asks ${method} ${path}`,
      );
    }
    const media = exchanges.map(({ requestType }) => requestType?.split(";")[0]);
    assert(media.includes("multipart/form-data"));

    const logged = examples.log().split("\n");
    for (const { text, line } of blocks.filter((one) => one.notes[0] === "log")) {
      if (text.startsWith("{")) continue;
      for (const shown of text.split("\n")) {
        const pattern = shown.replace(/^\S+/, "…").replace(/\d+\.\dms/, "…ms");
        assert(logged.some((one) => isShownText(pattern, one)), `line ${line}: ${shown}`);
      }
    }
  },
});

Deno.test("docs/http-api.md: the TypeScript examples are sound and print what is shown", async () => {
  await using examples = await startExamples();
  const programs = blocks.filter((block) => kindOf(block) === "ts");
  assertEquals(
    programs.map(({ text }) => /from "([^"]+)"/.exec(text)?.[1]),
    ["openai", "@ai-sdk/openai-compatible", "@langchain/openai"],
  );
  const files = programs.map(({ line }) => `${examples.dir}/line_${line}.ts`);
  await Promise.all(files.map((file, index) => Deno.writeTextFile(file, programs[index]!.text)));
  const flags = ["--quiet", "--cached-only", ...lockedFlags()];
  await examples.run(Deno.execPath(), ["check", ...flags, ...files]);
  for (const [index, file] of files.entries()) {
    const printed = await examples.run(Deno.execPath(), ["run", "-A", ...flags, file]);
    assertShown(programs[index]!, printed);
  }
  assertConform(examples.proxy.exchanges);
});

/** Where a value of a schema is sent. */
const ROUTES: Record<string, string> = {
  ChatCompletionRequest: "/v1/chat/completions",
  CreateResponse: "/v1/responses",
};

Deno.test("docs/http-api.md: the values are valid, and the service takes the requests", async () => {
  await using examples = await startExamples();
  const values = blocks.filter((block) => kindOf(block) === "value");
  assert(values.length > 2);
  for (const { line, notes: [name], text } of values) {
    assertEquals(conformance.problemsOf(name!, JSON.parse(text)), [], `line ${line}`);
    const path = ROUTES[name!];
    if (path === undefined) continue;
    const response = await fetch(examples.proxy.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: text,
    });
    assertEquals(response.status, 200, `line ${line}: ${await response.text()}`);
  }
  assertConform(examples.proxy.exchanges);
  const asked = examples.model.requests.map(({ body }) => body.messages.at(-1).content);
  assertStringIncludes(JSON.stringify(asked[0]), "Answer in French.\\n\\nAnd again?");
  for (const { line, notes: [, name], text } of blocks) {
    if (name === undefined) continue;
    assertEquals(conformance.problemsOf(name, JSON.parse(text)), [], `line ${line}`);
  }
});

Deno.test("docs/http-api.md: the configurations load", async () => {
  for (const { line, text } of blocks.filter((block) => kindOf(block) === "config")) {
    const config = JSON.parse(text);
    assert(configSchema.safeParse(config).success, `line ${line}`);
    await using home = await makeHome({
      ...config,
      // The model is none of its business, and a free port is the test's.
      agent: { model: "offline" },
      api: { ...config.api, port: 0 },
    });
    const { code, stdout, stderr } = await home.run(["config", "check"], {
      env: { SERVICE_API_KEY: KEY },
    });
    assertEquals([code, /unknown/i.test(stdout + stderr)], [0, false], stdout + stderr);
  }
});

Deno.test("W16 docs/http-api.md: with the headers for Open WebUI each chat is a conversation", async () => {
  const [connection] = blocks.filter((block) => kindOf(block) === "openwebui");
  const templates: Record<string, string> = JSON.parse(connection!.text);
  await using examples = await startExamples();

  /** As Open WebUI does: it fills in each template, with nothing where it has nothing. */
  async function ask(chatId: string, task: string, content: string): Promise<string> {
    const headers = Object.entries(templates).map(([name, template]) => [
      name,
      template.replace("{{CHAT_ID}}", chatId).replace("{{TASK}}", task),
    ]);
    const response = await fetch(`${examples.proxy.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        ...Object.fromEntries(headers),
        authorization: `Bearer ${KEY}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        model: "local/qwen3",
        stream: false,
        messages: [{ role: "user", content }],
      }),
    });
    assertEquals(response.status, 200);
    return (await response.json()).choices[0].message.content;
  }

  const chat = crypto.randomUUID();
  await ask(chat, "", "My name is Ada.");
  await ask(chat, "title_generation", "### Task: say a title.");
  assertEquals(await ask(chat, "", "What is my name?"), "Your name is Ada.");
  const seen = JSON.stringify(examples.model.requests.at(-1)!.body.messages);
  assertEquals(seen.includes("### Task"), false, "a helper call entered the conversation");
  assertEquals(await ask(crypto.randomUUID(), "", "What is my name?"), "I cannot know.");
  assertConform(examples.proxy.exchanges);
});

Deno.test("docs/http-api.md: the JSON log line is as the log writes it", () => {
  const [block] = blocks.filter(({ language, notes }) => language === "json" && notes[0] === "log");
  const shown = JSON.parse(block!.text);
  let line = "";
  const log = createAccessLog({
    port: "api",
    format: "json",
    write: (text) => line = text,
    now: () => Date.parse(shown.time),
  });
  const { request_id: requestId, duration_ms: durationMs, ...rest } = shown;
  log({ ...rest, requestId, durationMs } as AccessEntry);
  assertEquals(line, JSON.stringify(shown));
});

Deno.test("docs/http-api.md: the limits are those of the code", () => {
  const mib = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  const count = (number: number) => number.toLocaleString("en-US");
  const rows: [string, string][] = [
    ["a file", `${mib(MAX_FILE_BYTES)}, exactly that included`],
    ["files of a request", `${MAX_FILES} files, ${mib(MAX_FILES_BYTES)} together`],
    ["JSON of a body", `${MAX_JSON_DEPTH} levels, ${count(MAX_JSON_VALUES)} values`],
    ["parts of a form", String(MAX_PARTS)],
    ["text of a file", `${count(MAX_TEXT_CHARS)} characters`],
    ["pages of a PDF", String(MAX_PDF_PAGES)],
    [
      ".docx, .xlsx and .pptx, unpacked",
      `${count(MAX_ARCHIVE_MEMBERS)} members, ${mib(MAX_ARCHIVE_BYTES)}`,
    ],
    ["time to read a document", `${EXTRACT_TIMEOUT_MS / 1000} s`],
  ];
  const table = page.replaceAll(/ +/g, " ");
  for (const [what, limit] of rows) assertStringIncludes(table, `| ${what} | ${limit} |`);
  assertStringIncludes(page, `it goes on for ${REPEAT_GRACE_MS / 1000} s`);
  assertStringIncludes(page, `After ${KEEP_ALIVE_MS / 1000} s of silence`);
});
