/** Files on the chat route, in JSON and in forms, through the listener. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { InputPart } from "../../../contract/messages.ts";
import {
  createTestApi,
  jsonOf,
  rawRequest,
  startTestApi,
  type TestApi,
} from "../../testing/test_api.ts";
import { MAX_FILES } from "../../../documents/read_upload.ts";
import { FULL_RUN, rounds } from "../../../../tests/support/rounds.ts";
import { needs } from "../../../../tests/support/needs.ts";

const MIB = 1024 * 1024;
const utf8 = (text: string) => new TextEncoder().encode(text);
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

const BINDINGS = [
  { name: "loopback", config: { apiKey: "k" } },
  { name: "all addresses", config: { host: "0.0.0.0", apiKey: "k" } },
];
const AUTH = { authorization: "Bearer k" };

type Fields = [name: string, value: string | File][];

function formOf(fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value as string);
  return form;
}

function postForm(api: TestApi, fields: Fields, headers: HeadersInit = AUTH): Promise<Response> {
  return fetch(`${api.url}/v1/chat/completions`, { method: "POST", body: formOf(fields), headers });
}

function dataUrl(bytes: Uint8Array, type = "application/octet-stream"): string {
  return `data:${type};base64,${bytes.toBase64()}`;
}

function filePart(filename: string, bytes: Uint8Array) {
  return { type: "file", file: { filename, file_data: dataUrl(bytes) } };
}

function userMessage(...content: unknown[]) {
  return { messages: [{ role: "user", content }] };
}

/** The parts without their bytes, which are looked at apart. */
function outline(input: readonly InputPart[]) {
  return input.map((part) => {
    if (part.type === "text") return part.text;
    return part.type === "image" ? part.mediaType : [part.name, part.mediaType, part.text];
  });
}

const EXPECTED = [
  "look",
  "image/png",
  ["übersicht.csv", "text/plain", "a,b\n1,ü\n"],
  ["report", "application/pdf", "words of a PDF"],
];

for (const { name, config } of BINDINGS) {
  Deno.test(`chat on ${name} takes images, texts and documents in JSON and in a form alike`, async () => {
    await using api = await startTestApi({ config });
    const csv = utf8("a,b\n1,ü\n");
    const json = await api.chat(
      userMessage(
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url: dataUrl(PNG, "text/plain") } },
        filePart("übersicht.csv", csv),
        filePart("report", utf8("%PDF-1.7")),
      ),
      { headers: AUTH },
    );
    assertEquals(json.status, 200);
    assertEquals((await jsonOf(json)).choices[0].message.content, "Hello");
    const form = await postForm(api, [
      ["message", "look"],
      ["files", new File([PNG], "photo.txt")],
      ["files", new File([csv], "übersicht.csv", { type: "image/png" })],
      ["files", new File(["%PDF-1.7"], "report")],
    ]);
    assertEquals(form.status, 200);
    assertEquals((await jsonOf(form)).choices[0].message.content, "Hello");
    for (const { request } of api.turns.accepted) {
      assertEquals(outline(request.input), EXPECTED);
      const image = request.input[1]!;
      assertEquals(
        image.type === "image" && new Uint8Array((image as { bytes: Uint8Array }).bytes),
        PNG,
      );
    }
    assertEquals(api.turns.accepted.length, 2);
  });

  Deno.test(`chat on ${name} takes the other fields of a form`, async () => {
    await using api = await startTestApi({ config });
    const streamed = await postForm(api, [
      ["message", "hi"],
      ["session_id", "form:1"],
      ["model", "fake/one"],
      ["stream", "true"],
      ["temperature", "0.5"],
    ]);
    assertStringIncludes(await streamed.text(), "data: [DONE]");
    const named = await postForm(api, [["message", "hi"]], { ...AUTH, "x-session-id": "form:2" });
    await named.body?.cancel();
    assertEquals(
      api.turns.accepted.map(({ request }) => request.sessionKey),
      ["api:form:1", "api:form:2"],
    );
  });

  Deno.test(`chat on ${name} takes a file of exactly 10 MiB, and names one that is larger`, async () => {
    await using api = await startTestApi({ config });
    const bytes = new Uint8Array(10 * MIB + 1).fill(0x61);
    const exact = bytes.subarray(0, 10 * MIB);
    for (
      const response of [
        await api.chat(userMessage(filePart("a.txt", exact)), { headers: AUTH }),
        await postForm(api, [["files", new File([exact], "a.txt")]]),
      ]
    ) {
      assertEquals(response.status, 200, await response.text());
    }
    for (
      const response of [
        await api.chat(userMessage(filePart("big.txt", bytes)), { headers: AUTH }),
        await postForm(api, [["files", new File([bytes], "big.txt")]]),
      ]
    ) {
      assertEquals(response.status, 413);
      const { error } = await jsonOf(response);
      assertEquals(error.code, "too_large");
      assertStringIncludes(error.message, '"big.txt"');
    }
    assertEquals(api.turns.accepted.length, 2);
  });

  Deno.test(`chat on ${name} refuses a form over 90 MiB, with a length and without`, async () => {
    await using api = await startTestApi({ config });
    const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
      "Authorization: Bearer k\r\nContent-Type: multipart/form-data; boundary=B\r\n";
    const declared = await rawRequest(
      api.listener.port,
      `${head}Content-Length: ${90 * MIB + 1}\r\n\r\n`,
      (answer) => answer.includes("}}"),
    );
    assertStringIncludes(declared, "413 ");
    const chunk = new Uint8Array(MIB).fill(0x20);
    let sent = 0;
    const response = await fetch(`${api.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...AUTH, "content-type": "multipart/form-data; boundary=B" },
      body: new ReadableStream({
        pull(controller) {
          if (++sent > 95) return controller.close();
          controller.enqueue(chunk.slice());
        },
      }, { highWaterMark: 0 }),
    });
    assertEquals(response.status, 413);
    assertEquals((await jsonOf(response)).error.code, "too_large");
    assertEquals(api.turns.accepted.length, 0);
  });

  Deno.test(`a client of ${name} that goes away in the middle of a form starts no turn`, async () => {
    await using api = await startTestApi({ config });
    const logged = api.nextAccess();
    const connection = await Deno.connect({ port: api.listener.port });
    await connection.write(utf8(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n" +
        "Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 1000000\r\n\r\n" +
        '--B\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nhalf of it',
    ));
    connection.close();
    const { status } = await logged;
    assert(status === 400 || status === 499, String(status));
    assertEquals(api.turns.accepted.length, 0);
  });
}

const TEXT = new File(["x"], "a.txt");

for (
  const [why, fields, status, code, param] of [
    ["has no message", [["other", "x"]], 400, "no_user_message", "message"],
    ["has a blank message", [["message", " "]], 400, "no_user_message", "message"],
    ["has an empty file", [["files", new File([], "a.txt")]], 400, "invalid_request", "files[0]"],
    [
      "has a broken document",
      [["files", TEXT], ["files", new File(["%PDF-broken"], "a.pdf")]],
      400,
      "unreadable_document",
      "files[1]",
    ],
    [
      "has a file of an unknown type",
      [["files", new File([new Uint8Array([0, 1, 2])], "a.bin")]],
      415,
      "unsupported_media_type",
      "files[0]",
    ],
    ["names another model", [["files", TEXT], ["model", "gpt-5"]], 404, "model_not_found", "model"],
    [
      "has a bad session",
      [["message", "x"], ["session_id", "/"]],
      400,
      "invalid_request",
      "session_id",
    ],
    ["has a file in another field", [["file", TEXT]], 400, "invalid_request", "file"],
    ["has text where files are", [["files", "x"]], 400, "invalid_request", "files"],
    ["has a wrong stream", [["message", "x"], ["stream", "1"]], 400, "invalid_request", "stream"],
    [
      "has 21 files",
      Array.from({ length: MAX_FILES + 1 }, () => ["files", TEXT]),
      413,
      "too_large",
      `files[${MAX_FILES}]`,
    ],
    [
      "has thousands of parts",
      Array.from({ length: 2_000 }, () => ["x", "y"]),
      413,
      "too_large",
      null,
    ],
  ] as [string, Fields, number, string, string | null][]
) {
  Deno.test(`chat refuses a form that ${why}, and nothing of it stays`, async () => {
    await using api = await startTestApi();
    const response = await postForm(api, fields, {});
    assertEquals(response.status, status);
    assertEquals(response.headers.get("x-should-retry"), null);
    const { error } = await jsonOf(response);
    assertEquals([error.code, error.param], [code, param]);
    assertEquals(api.turns.accepted.length, 0);
    assertEquals(api.access.at(-1)?.reason, param === null ? code : `${code} ${param}`);
  });
}

Deno.test("chat takes 64 MiB of files together and refuses more", async () => {
  await using api = await startTestApi();
  const ten = new Uint8Array(10 * MIB).fill(0x61);
  const files = (last: number): Fields =>
    [...Array(6).fill(ten), ten.subarray(0, last)].map((
      bytes,
    ) => ["files", new File([bytes], "a")]);
  const exact = await postForm(api, files(4 * MIB), {});
  assertEquals(exact.status, 200, await exact.text());
  const over = await postForm(api, files(4 * MIB + 1), {});
  assertEquals(over.status, 413);
  assertEquals((await jsonOf(over)).error.param, "files[6]");
  assertEquals(api.turns.accepted.length, 1);
});

for (
  const [why, type, body] of [
    ["no boundary is named", "multipart/form-data", "--B--"],
    ["another boundary is named", "multipart/form-data; boundary=C", "--B\r\n\r\n--B--"],
    ["it is cut off", "multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-"],
    ["it is empty", "multipart/form-data; boundary=B", ""],
    [
      "a name is huge",
      "multipart/form-data; boundary=B",
      `--B\r\nContent-Disposition: form-data; name="${"n".repeat(8_000)}"\r\n\r\nx\r\n--B--`,
    ],
  ] as const
) {
  Deno.test(`chat answers a form with 400 when ${why}`, async () => {
    await using api = await startTestApi();
    const response = await fetch(`${api.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    assertEquals(response.status, 400);
    const { error } = await jsonOf(response);
    assertEquals(error.code, "invalid_request");
    assert(error.message.length < 500);
    assertEquals(api.turns.accepted.length, 0);
  });
}

for (
  const [what, body] of [
    ["90 MiB of [", "[".repeat(90 * MIB)],
    ["40 million numbers", `{"messages":[${"0,".repeat(40_000_000)}0]}`],
    ["objects inside each other", `{"messages":${'{"a":'.repeat(10_000_000)}`],
  ] as const
) {
  Deno.test(needs(`chat refuses ${what} and goes on`, FULL_RUN), async () => {
    await using api = await startTestApi();
    const response = await api.chat(null, { body });
    assertEquals(response.status, 400);
    assertEquals((await jsonOf(response)).error.code, "invalid_request");
    assertEquals((await api.chat({ messages: [{ role: "user", content: "hi" }] })).status, 200);
  });
}

Deno.test("chat reads a body that comes in chunks of a byte", async () => {
  await using api = await startTestApi();
  const body = " ".repeat(100_000) + JSON.stringify(userMessage({ type: "text", text: "hi" }));
  const answer = await rawRequest(
    api.listener.port,
    "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" +
      "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
      `${Array.from(body, (char) => `1\r\n${char}\r\n`).join("")}0\r\n\r\n`,
  );
  assertStringIncludes(answer, "200 OK");
  assertEquals(api.turns.accepted[0]!.request.input, [{ type: "text", text: "hi" }]);
});

Deno.test("chat gives an answer or a proper refusal for any form", async () => {
  const { api, turns, errors } = createTestApi();
  const line = fc.oneof(
    fc.constantFrom(
      "--B",
      "--B--",
      "",
      'Content-Disposition: form-data; name="message"',
      'Content-Disposition: form-data; name="files"; filename="a"',
      'Content-Disposition: form-data; name="stream"',
      "Content-Disposition: form-data",
      "true",
      "%PDF-1.7",
    ),
    fc.string(),
  );
  const body = fc.array(line, { maxLength: 20 }).map((lines) => lines.join("\r\n"));
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.boolean(), body, async (begun, text) => {
      const before = turns.accepted.length;
      const start = '--B\r\nContent-Disposition: form-data; name="message"\r\n\r\nhi\r\n';
      const response = await api.fetch(
        new Request("http://127.0.0.1/v1/chat/completions", {
          method: "POST",
          body: begun ? `${start}${text}\r\n--B--` : text,
          headers: { "content-type": "multipart/form-data; boundary=B" },
        }),
        "127.0.0.1",
      );
      const answer = await response.text();
      if (response.status === 200) {
        answered++;
        return assertEquals(turns.accepted.length, before + 1);
      }
      assert([400, 413, 415].includes(response.status), String(response.status));
      assert(JSON.parse(answer).error.message.length > 0);
      assertEquals(turns.accepted.length, before);
    }),
    { numRuns: rounds(500) },
  );
  assert(answered > 0);
  assertEquals(errors, []);
});
