import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import {
  dataUrl,
  makeDocx,
  makePdf,
  makePptx,
  makeXlsx,
  PNG,
  type TestFile,
} from "../support/documents.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { HAS_PROC, openConnections, until, untilIdle } from "../support/process_facts.ts";
import { RawSocket } from "../support/raw_socket.ts";

const MEBIBYTE = 1024 * 1024;

const configFor = (baseUrl: string) => ({
  agent: { model: "local/fake", contextTokens: 1_000_000 },
  providers: { local: { baseUrl } },
});

const bytesOf = (text: string) => new TextEncoder().encode(text);

const TEXT_FILE: TestFile = {
  name: "notes.md",
  mediaType: "text/markdown",
  bytes: bytesOf("# Notes\nThe password is marzipan, größe 😀\n"),
};

/** Files in the media folder, whatever its layout; those that are still being written too. */
async function mediaFiles(home: TestHome): Promise<{ name: string; sha256: string }[]> {
  const files: { name: string; sha256: string }[] = [];
  async function walk(dir: string): Promise<void> {
    for await (const entry of Deno.readDir(dir)) {
      const path = `${dir}/${entry.name}`;
      if (entry.isDirectory) await walk(path);
      else files.push({ name: entry.name, sha256: await sha256(await Deno.readFile(path)) });
    }
  }
  try {
    await walk(`${home.dir}/home/data/media`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function upload(
  apiUrl: string,
  files: TestFile[],
  fields: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ message: "look", ...fields })) {
    form.append(name, value);
  }
  for (const { name, mediaType, bytes } of files) {
    form.append("files", new Blob([bytes], { type: mediaType }), name);
  }
  return await fetch(`${apiUrl}/v1/chat/completions`, { method: "POST", body: form, ...init });
}

const hashesOf = async (files: TestFile[]) =>
  (await Promise.all(files.map(({ bytes }) => sha256(bytes)))).sort();

const storedHashes = async (home: TestHome) =>
  (await mediaFiles(home)).map(({ sha256 }) => sha256).sort();

Deno.test({
  ...needs(
    "curl -F with a document of every kind: the model sees their text and the image, and each is kept once",
    "curl",
  ),
}, async () => {
  const files = [
    PNG,
    TEXT_FILE,
    await makePdf("Page one says xylophone", "Page two says bassoon"),
    await makeDocx("The letter says clarinet", "left cell", "right cell"),
    makeXlsx("Budget", [["item", "euros"], ["trombone", 4711]]),
    await makePptx("The notes say kazoo", "The slide says harpsichord", "Slide two says tuba"),
  ];
  await using model = startModelServer({ script: [{ text: "seen" }, { text: "again" }] });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const args = ["-sS", "-F", "message=Compare these", "-F", "session_id=a"];
  for (const { name, bytes } of files) {
    await Deno.writeFile(`${home.dir}/${name}`, bytes);
    args.push("-F", `files=@${home.dir}/${name}`);
  }
  const curl = () =>
    new Deno.Command("curl", { args: [...args, `${service.apiUrl}/v1/chat/completions`] }).output();
  const { stdout, code } = await curl();
  const answer = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals([code, answer.choices?.[0].message.content], [0, "seen"], JSON.stringify(answer));

  const sent = (await model.request(0)).body.messages.at(-1).content;
  const text: string = sent.flatMap((part: { text?: string }) => part.text ?? []).join("\n");
  for (
    const words of [
      "Compare these",
      "The password is marzipan, größe 😀",
      "Page one says xylophone",
      "Page two says bassoon",
      "The letter says clarinet",
      "right cell",
      "Budget",
      "trombone",
      "4711",
      "The slide says harpsichord",
      "Slide two says tuba",
      "The notes say kazoo",
      ...files.filter((file) => file !== PNG).map(({ name }) => name),
    ]
  ) assertStringIncludes(text, words);
  assert(text.indexOf("xylophone") < text.indexOf("bassoon"), "pages in their order");
  assert(text.indexOf("marzipan") < text.indexOf("clarinet"), "files in their order");
  assertStringIncludes(JSON.stringify(sent), dataUrl(PNG));

  // The same files again, in another conversation and in the same: nothing is kept twice.
  assertEquals((await curl()).code, 0);
  const other = await upload(service.apiUrl, files, { session_id: "b" });
  assertEquals(other.status, 200);
  await other.body?.cancel();
  assertEquals(await storedHashes(home), await hashesOf(files));

  assertEquals((await home.run(["sessions", "delete", "api:a", "--yes"])).code, 0);
  assertEquals(await storedHashes(home), await hashesOf(files), "the other one still has them");
  assertEquals((await home.run(["sessions", "delete", "api:b", "--yes"])).code, 0);
  await until(async () => (await mediaFiles(home)).length === 0);
});

Deno.test("a refused upload leaves nothing on the disk and asks nobody", async (t) => {
  await using model = startModelServer();
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const pdf = await makePdf("fine");
  const docx = await makeDocx("fine", "cell");
  const blank = (bytes: number): TestFile => ({
    name: "big.txt",
    mediaType: "text/plain",
    bytes: new Uint8Array(bytes).fill(0x20),
  });
  const refused: Record<string, [files: TestFile[], status: number, code: string]> = {
    "a PDF cut off": [
      [PNG, { ...pdf, bytes: pdf.bytes.slice(0, 300) }],
      400,
      "unreadable_document",
    ],
    "a Word document cut off": [
      [pdf, { ...docx, bytes: docx.bytes.slice(0, -200) }],
      400,
      "unreadable_document",
    ],
    "an empty file": [[PNG, { ...TEXT_FILE, bytes: new Uint8Array() }], 400, "invalid_request"],
    "bytes of no known kind": [
      [PNG, { name: "a.png", mediaType: "image/png", bytes: Uint8Array.of(0, 1, 2, 0xff, 0) }],
      415,
      "unsupported_media_type",
    ],
    "a file over 10 MiB": [[PNG, blank(10 * MEBIBYTE + 1)], 413, "too_large"],
    "21 files": [Array.from({ length: 21 }, () => PNG), 413, "too_large"],
    "files over 64 MiB together": [
      Array.from({ length: 7 }, () => blank(9.9 * MEBIBYTE)),
      413,
      "too_large",
    ],
  };
  for (const [name, [files, status, code]] of Object.entries(refused)) {
    await t.step(name, async () => {
      const answer = await upload(service.apiUrl, files);
      const { error } = await answer.json();
      assertEquals([answer.status, error.code], [status, code], error.message);
      assertEquals(await mediaFiles(home), []);
    });
  }
  await t.step("a form without a user's words or files", async () => {
    const answer = await upload(service.apiUrl, [], { message: " " });
    assertEquals([answer.status, (await answer.json()).error.code], [400, "no_user_message"]);
  });
  await t.step("a model that is not this one", async () => {
    const answer = await upload(service.apiUrl, [PNG], { model: "gpt-9" });
    assertEquals([answer.status, (await answer.json()).error.code], [404, "model_not_found"]);
    assertEquals(await mediaFiles(home), []);
  });
  await t.step("W16 a helper call's file", async () => {
    const headers = { "x-openwebui-task": "title_generation" };
    const answer = await upload(service.apiUrl, [PNG], {}, { headers });
    assertEquals(answer.status, 200);
    await answer.body?.cancel();
    assertEquals(await mediaFiles(home), []);
  });
  assertEquals((await home.run(["sessions", "list"])).stdout.includes("api:"), false);
  assertEquals(model.requests.length, 1, "the helper call alone");
});

Deno.test("10 MiB exactly are taken, as a form and as base64, and a long text is cut with a note", async () => {
  await using model = startModelServer();
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const full: TestFile = {
    name: "full.txt",
    mediaType: "text/plain",
    bytes: bytesOf("0123456789abcdef".repeat(10 * MEBIBYTE / 16)),
  };
  const form = await upload(service.apiUrl, [full]);
  assertEquals(form.status, 200, await form.text());
  const inline = await fetch(`${service.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{
        role: "user",
        content: [{ type: "file", file: { filename: full.name, file_data: dataUrl(full) } }],
      }],
    }),
  });
  assertEquals(inline.status, 200, await inline.text());
  const sent = JSON.stringify((await model.request(0)).body.messages.at(-1));
  assert(sent.length > 200_000 && sent.length < 202_000, `the model got ${sent.length} characters`);
  assertEquals((await mediaFiles(home)).length, 1);
});

Deno.test("a form streams, keeps its key, and goes on in its session", async () => {
  await using model = startModelServer({ script: [{ text: "one" }, { text: "two" }] });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const ask = () =>
    upload(service.apiUrl, [PNG], { session_id: "s", stream: "true" }, {
      headers: { "idempotency-key": "k" },
    });
  const first = await ask();
  assertEquals(first.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const text = await first.text();
  assert(text.endsWith("data: [DONE]\n\n"), text);
  assertEquals(await (await ask()).text(), text, "the boundary differs, the request does not");
  const conflict = await upload(service.apiUrl, [TEXT_FILE], { session_id: "s", stream: "true" }, {
    headers: { "idempotency-key": "k" },
  });
  assertEquals(conflict.status, 409);
  await conflict.body?.cancel();
  assertEquals(await storedHashes(home), await hashesOf([PNG]));
  const next = await upload(service.apiUrl, [], { message: "and now?", session_id: "s" });
  assertEquals((await next.json()).choices[0].message.content, "two");
  assertStringIncludes(JSON.stringify((await model.request(1)).body.messages), dataUrl(PNG));
});

Deno.test("kill -9 after a file was accepted keeps it, and one in the middle of an upload leaves nothing", async () => {
  const pdf = await makePdf("The secret word is xylophone");
  await using model = startModelServer({
    script: ({ index }) => index === 0 ? { hang: "headers" } : { text: "seen" },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  {
    await using service = await home.start();
    const asking = upload(service.apiUrl, [PNG, pdf], { session_id: "s" }).catch(() => "cut");
    await (await model.request(0)).hanging;
    await service.kill();
    assertEquals(await asking, "cut");
  }
  {
    await using service = await home.start();
    assertEquals(await storedHashes(home), await hashesOf([PNG, pdf]));
    assertEquals((await home.run(["sessions", "delete", "api:s", "--yes"])).code, 0);
    await until(async () => (await mediaFiles(home)).length === 0);

    // Killed at some point between the first byte of the form and the model's answer.
    const files = [PNG, pdf, makeXlsx("S", [["a", 1]])];
    const asking = upload(service.apiUrl, files, { session_id: "t" }).catch(() => "cut");
    await until(async () => (await mediaFiles(home)).length > 0);
    await service.kill();
    const answer = await asking;
    if (answer instanceof Response) await answer.body?.cancel();
  }
  await using service = await home.start();
  const { stdout } = await home.run(["sessions", "list", "--json"]);
  const stored = await storedHashes(home);
  // Either the turn is on record with all of its files, or neither is there.
  assertEquals(stored.length, stdout.includes("api:t") ? 3 : 0);
  if (stored.length > 0) await home.run(["sessions", "delete", "api:t", "--yes"]);
  await until(async () => (await mediaFiles(home)).length === 0);
  assertEquals((await fetch(`${service.apiUrl}/ready`)).status, 200);
});

Deno.test("a client that leaves in the middle of an upload leaves nothing", async () => {
  await using model = startModelServer();
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const pdf = await makePdf("The secret word is xylophone");
  const part = (name: string) =>
    `--b\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n`;
  const body = [
    ...bytesOf(part(PNG.name)),
    ...PNG.bytes,
    ...bytesOf(`\r\n${part(pdf.name)}`),
    ...pdf.bytes,
    ...bytesOf("\r\n--b--\r\n"),
  ];
  const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
    `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n`;
  const request = Uint8Array.from([...bytesOf(head), ...body]);
  for (let cut = 1; cut < request.length; cut += Math.ceil(request.length / 30)) {
    using socket = await RawSocket.open(service.apiUrl);
    await socket.send(request.subarray(0, cut));
  }
  const port = Number(new URL(service.apiUrl).port);
  if (HAS_PROC) await until(async () => await openConnections(port) === 0);
  await untilIdle(home);
  assertEquals(await mediaFiles(home), []);
  assertEquals(model.requests.length, 0);
  assertEquals((await home.run(["sessions", "list"])).stdout.includes("api:"), false);
  using whole = await RawSocket.open(service.apiUrl);
  await whole.send(request);
  assertEquals((await whole.answer()).status, 200, "the request was a good one");
});
