import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Behaviour, startModelServer } from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";

/** Of the configuration; characters that JSON, URLs and base64 each write in their own way. */
const KEY = 'sk-live/7Hq+2="Zx&a b%c?d~0123456789';
const NAME = "[secret providers.local.apiKey]";
/** Of the store, by a file that a tool reads. */
const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ";

const base64 = (text: string) => new TextEncoder().encode(text).toBase64();

/** The forms of a secret as they stand in an answer, and what may not be in what is shown. */
const FORMS: Record<string, string> = {
  raw: KEY,
  json: JSON.stringify({ key: KEY }),
  url: `https://example.com/?k=${encodeURIComponent(KEY)}&x=1`,
  form: new URLSearchParams({ k: KEY }).toString(),
  "lower-case hex": encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase()),
  base64: base64(KEY),
  "base64 behind one byte": base64(`:${KEY}`),
  "base64 behind two bytes": base64(`u:${KEY}!`),
  base64url: base64(KEY).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
};
/** What of each would be enough to have it. */
const TELLING = Object.fromEntries(
  Object.entries(FORMS).map(([name, form]) => [name, form.slice(8, -8)]),
);

interface World extends AsyncDisposable {
  home: TestHome;
  service: Running;
  prompts(): string;
}

async function world(script: Behaviour[], config: Record<string, unknown> = {}): Promise<World> {
  const model = startModelServer({ script });
  const home = await makeHome();
  const workspace = `${home.dir}/workspace`;
  await Deno.mkdir(workspace);
  await home.configure({
    agent: { model: "local/fake", workspace },
    providers: { local: { baseUrl: model.baseUrl, apiKey: KEY } },
    log: { level: "debug" },
    ...config,
  });
  const service = await home.start();
  return {
    home,
    service,
    prompts: () => JSON.stringify(model.requests.map(({ body }) => body)),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

async function post(service: Running, path: string, body: unknown): Promise<Response> {
  return await fetch(`${service.apiUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

type Ask = (service: Running, content: string) => Promise<{ text: string; whole: string }>;

// deno-lint-ignore no-explicit-any
const sse = (text: string): any[] =>
  text.split("\n").filter((line) => line.startsWith("data: {")).map((line) =>
    JSON.parse(line.slice(6))
  );

/** Every way to ask over HTTP: the text that was said, and all that was answered. */
const WAYS: Record<string, Ask> = {
  async chat(service, content) {
    const response = await post(service, "/v1/chat/completions", {
      messages: [{ role: "user", content }],
      session_id: "s",
    });
    const whole = await response.text();
    return { whole, text: JSON.parse(whole).choices?.[0].message.content ?? "" };
  },
  async "chat, streamed"(service, content) {
    const response = await post(service, "/v1/chat/completions", {
      messages: [{ role: "user", content }],
      session_id: "s",
      stream: true,
      stream_options: { include_progress: true },
    });
    const whole = await response.text();
    const text = sse(whole).map((chunk) => chunk.choices?.[0]?.delta?.content ?? "").join("");
    return { whole, text };
  },
  async responses(service, content) {
    const response = await post(service, "/v1/responses", { input: content, session_id: "s" });
    const whole = await response.text();
    const body = JSON.parse(whole);
    return { whole, text: body.output === undefined ? "" : responseText(body) };
  },
  async "responses, streamed"(service, content) {
    const response = await post(service, "/v1/responses", {
      input: content,
      session_id: "s",
      stream: true,
      metadata: { note: KEY },
    });
    const whole = await response.text();
    const events = sse(whole);
    const text = events.filter(({ type }) => type === "response.output_text.delta")
      .map(({ delta }) => delta).join("");
    const completed = events.find(({ type }) => type === "response.completed");
    if (completed) assertEquals(text, responseText(completed.response));
    return { whole, text };
  },
};

// deno-lint-ignore no-explicit-any
function responseText({ output }: any): string {
  // deno-lint-ignore no-explicit-any
  return output.filter(({ type }: any) => type === "message").flatMap(({ content }: any) =>
    // deno-lint-ignore no-explicit-any
    content.map(({ text }: any) => text)
  ).join("");
}

/** Every byte that a home holds beside its configuration. */
async function bytesOf(dir: string): Promise<string> {
  let all = "";
  for await (const entry of Deno.readDir(dir)) {
    const path = `${dir}/${entry.name}`;
    if (entry.isDirectory) all += await bytesOf(path);
    else if (entry.isFile && !/^config\.json/.test(entry.name)) {
      const bytes = await Deno.readFile(path);
      all += new TextDecoder("latin1").decode(bytes);
    }
  }
  return all;
}

function assertSilent(text: string, where: string): void {
  for (const [form, telling] of Object.entries(TELLING)) {
    assert(!text.includes(telling), `${where} has the secret (${form}): ${around(text, telling)}`);
  }
}

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 100), at + part.length + 50);
}

for (const [way, ask] of Object.entries(WAYS)) {
  Deno.test(`E9 ${way}: what a model says holds no secret, in any form, in any cut, nor what people send`, async () => {
    const said = `${Object.values(FORMS).join(" | ")} end`;
    const script: Behaviour[] = [1, 3, 7, 1_000_000].map((size) => ({
      reasoning: said.match(new RegExp(`[^]{1,${size}}`, "g"))!,
      text: said.match(new RegExp(`[^]{1,${size}}`, "g"))!,
      chunkBytes: 1_000,
    }));
    await using place = await world(script);
    const { service, home } = place;
    for (const _ of script) {
      const { text, whole } = await ask(service, `My key is ${KEY}, or ${FORMS.json}.`);
      assertStringIncludes(
        text,
        `${NAME} | {"key":"${NAME}"} | https://example.com/?k=${NAME}&x=1`,
      );
      assert(text.endsWith(" end"), text);
      assertEquals(text.split(NAME).length - 1, Object.keys(FORMS).length);
      assertSilent(whole, "the answer");
    }
    assertSilent(place.prompts(), "what the model was asked");
    assertStringIncludes(place.prompts(), `My key is ${NAME}`);
    await service.stop();
    assertSilent(service.log(), "the log");
    assertSilent(await bytesOf(`${home.dir}/home`), "the home");
  });
}

Deno.test(
  needs(
    "G18 a command that prints a secret is stored and shown with a placeholder, progress included",
    "bubblewrap",
  ),
  async () => {
    const calls = [{
      tool: "exec",
      // The shell gets it in two pieces, so that only its output has it whole.
      args: {
        command: [
          "sh",
          "-c",
          "cat key.txt; base64 -w 20 key.txt; for i in 1 2 3; do head -c 9 key.txt; sleep 0.1; " +
          'tail -c +10 key.txt; done; ls "missing-$(cat key.txt)" 2>&1',
        ],
      },
    }];
    await using place = await world([{ calls }, { text: "done" }]);
    const { service, home } = place;
    await Deno.writeTextFile(`${home.dir}/workspace/key.txt`, KEY);
    const { whole, text } = await WAYS["chat, streamed"]!(service, "print it");
    assertEquals(text, "done");
    assertSilent(whole, "the stream");
    const progress = sse(whole).map((chunk) => chunk.service?.text ?? "").join("");
    assertStringIncludes(progress, NAME);
    assertSilent(place.prompts(), "what the model was asked");
    assertStringIncludes(place.prompts(), `missing-${NAME}`);
    const { stdout } = await home.run(["sessions", "show", "api:s", "--json"]);
    assertSilent(stdout, "the session");
    await service.stop();
    assertSilent(await bytesOf(`${home.dir}/home`), "the home");
    assertSilent(service.log(), "the log");
  },
);

Deno.test(
  needs(
    "G18 a command that is given a secret, and prints it in every way it can, shows its name",
    "bubblewrap",
  ),
  async () => {
    const script =
      'echo "$DEPLOY"; printf %s "$DEPLOY" | base64 -w 16; printf x%s "$DEPLOY" | base64; ' +
      'printf %s "$DEPLOY" | od -An -tx1 | tr -d " \\n"; echo; env | grep DEPLOY; cat /proc/self/environ; ' +
      'echo "$DEPLOY" >&2; printf "%s" "$DEPLOY" > kept.txt';
    const command = ["sh", "-c", script];
    const rule = { capabilities: ["secret.use"], effect: "allow", targets: ["DEPLOY"] };
    await using place = await world([
      { calls: [{ tool: "exec", args: { command, secrets: ["DEPLOY"] } }] },
      { calls: [{ tool: "read_file", args: { path: "kept.txt" } }] },
      { text: "done" },
    ], { gates: { rules: [{ name: "deploy", ...rule }] } });
    const { service, home } = place;
    const set = await home.run(["secrets", "set", "DEPLOY", "--command", JSON.stringify(command)], {
      stdin: TOKEN,
    });
    assertEquals(set.code, 0, set.stderr);
    const { whole, text } = await WAYS["chat, streamed"]!(service, "deploy");
    assertEquals(text, "done");
    const shown = whole + place.prompts();
    for (const telling of [TOKEN, base64(TOKEN), new TextEncoder().encode(TOKEN).toHex()]) {
      assert(!shown.includes(telling.slice(4, -4)), around(shown, telling.slice(4, -4)));
    }
    const results = JSON.parse(place.prompts()).at(-1).messages
      .filter(({ role }: { role: string }) => role === "tool")
      .map(({ content }: { content: string }) => content);
    assert(results[0].split("[secret DEPLOY]").length > 6, results[0]);
    assertStringIncludes(results[1], "[secret DEPLOY]");
    assertEquals(await Deno.readTextFile(`${home.dir}/workspace/kept.txt`), TOKEN);
    await service.stop();
    const kept = service.log() + await bytesOf(`${home.dir}/home`);
    assert(!kept.includes(TOKEN), around(kept, TOKEN));
  },
);

Deno.test("E9 an error of a provider that repeats the key says its name alone, on both routes", async () => {
  const error = `Incorrect API key provided: ${KEY} (${encodeURIComponent(KEY)})`;
  await using place = await world([{ status: 401, error }]);
  for (const [way, ask] of Object.entries(WAYS)) {
    const { whole } = await ask(place.service, "hi");
    assertSilent(whole, way);
    assertStringIncludes(whole, "Incorrect API key provided: [secret", way);
  }
  await place.service.stop();
  assertSilent(place.service.log(), "the log");
  assertSilent(await bytesOf(`${place.home.dir}/home`), "the home");
});

Deno.test("E9 arguments of tools, files and error answers hold no secret", async () => {
  const calls = [
    { tool: "write_file", args: { path: "out.txt", content: `k=${KEY}` } },
    { tool: "read_file", args: { path: `no-${KEY}` } },
    { tool: "no_such_tool", args: `{"broken ${KEY}` },
  ];
  await using place = await world([{ calls, argsPiece: 3 }, { text: "done" }]);
  const { service, home } = place;
  const response = await post(service, "/v1/chat/completions", {
    messages: [{
      role: "user",
      content: [
        { type: "text", text: "keep this" },
        {
          type: "file",
          file: {
            filename: "notes.txt",
            file_data: `data:text/plain;base64,${base64(`the key: ${KEY}\n`)}`,
          },
        },
      ],
    }],
    session_id: "s",
  });
  assertEquals((await response.json()).choices[0].message.content, "done");
  assertSilent(place.prompts(), "what the model was asked");
  assertStringIncludes(place.prompts(), `the key: ${NAME}`);
  assertEquals(await Deno.readTextFile(`${home.dir}/workspace/out.txt`), `k=${NAME}`);
  for (
    const [path, body] of [
      ["/v1/chat/completions", { messages: [{ role: KEY, content: "x" }] }],
      ["/v1/chat/completions", { model: KEY, messages: [{ role: "user", content: "x" }] }],
      ["/v1/responses", { input: "x", previous_response_id: KEY }],
      [`/v1/responses/${encodeURIComponent(KEY)}`, {}],
    ] as const
  ) {
    assertSilent(await (await post(service, path, body)).text(), `the error of ${path}`);
  }
  await service.stop();
  assertSilent(service.log(), "the log");
});

Deno.test("E9 a secret that is set while the service runs is scrubbed from then on, and a removed one still is", async () => {
  await using place = await world([{ text: `it is ${TOKEN} and-then-more` }]);
  const { service, home } = place;
  const ask = WAYS["chat, streamed"]!;
  assertEquals((await ask(service, "hi")).text, `it is ${TOKEN} and-then-more`);
  const set = await home.run(["secrets", "set", "GITHUB"], { stdin: TOKEN });
  assertEquals(set.code, 0, set.stderr);
  const until = async (wanted: string) => {
    for (let tries = 0; tries < 50; tries++) {
      const { text } = await ask(service, "hi");
      if (text === wanted) return;
      // Another process has changed it, and no event says when this one has seen that.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`the service never says "${wanted}"`);
  };
  await until("it is [secret GITHUB] and-then-more");
  // What was said before does not go to the model again, and is not shown.
  const last = JSON.parse(place.prompts()).at(-1);
  assert(!JSON.stringify(last).includes(TOKEN));
  const shown = await home.run(["sessions", "show", "api:s"]);
  assert(!shown.stdout.includes(TOKEN), shown.stdout);
  assertStringIncludes(shown.stdout, "[secret GITHUB]");
  const removed = await home.run(["secrets", "rm", "GITHUB"]);
  assertEquals(removed.code, 0, removed.stderr);
  // Once the service knows of a later change, it knows of the removal.
  const other = await home.run(["secrets", "set", "OTHER"], { stdin: "and-then-more" });
  assertEquals(other.code, 0, other.stderr);
  await until("it is [secret GITHUB] [secret OTHER]");
  await service.stop();
  assert(!service.log().includes(TOKEN));
});
