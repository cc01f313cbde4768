import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { HTTP_ERRORS } from "../lib/listen/error_table.ts";
import { PNG } from "./support/documents.ts";
import { makeHome, type Running } from "./support/home.ts";
import { statusOf, untilIdle } from "./support/process_facts.ts";
import { rounds } from "./support/rounds.ts";
import { anyString } from "./support/any_string.ts";

const ROUTES = ["/v1/chat/completions", "/v1/responses"] as const;
const SLUGS = new Set(Object.values(HTTP_ERRORS).map(({ slug }) => slug as string));

interface AnyRequest {
  route: string;
  type: string;
  body: string | Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
}

/** Sends it, and holds the answer to what every answer must be. Returns the status. */
async function send(service: Running, { route, type, body, headers }: AnyRequest): Promise<number> {
  const response = await fetch(`${service.apiUrl}${route}`, {
    method: "POST",
    headers: { "content-type": type, ...headers },
    body,
  });
  const text = await response.text();
  const { status } = response;
  assert(status === 200 || (status >= 400 && status < 500), `${status}: ${text.slice(0, 500)}`);
  if (status !== 200) {
    const { error, ...rest } = JSON.parse(text);
    assertEquals([Object.keys(error), rest], [["message", "type", "param", "code"], {}]);
    assert(SLUGS.has(error.code), `${error.code} is in the table`);
    assert(error.message.length > 0 && error.message.length < 2_000, "a message for a person");
    assert(error.param === null || typeof error.param === "string");
  } else if (response.headers.get("content-type")!.startsWith("text/event-stream")) {
    assertMatch(text, /^(data|event): /);
  } else {
    assertMatch(JSON.parse(text).object, /^(chat\.completion|response)$/);
  }
  return status;
}

/** Texts that go wrong somewhere: in a database, a log line, a URL, a template, a prototype. */
const oddText = fc.oneof(
  anyString({ maxLength: 30 }),
  fc.string({ maxLength: 30 }),
  fc.constantFrom(
    "",
    " ",
    "\0",
    "\ud800",
    "\u200b",
    "\r\n\r\nHTTP/1.1 200 OK",
    "__proto__",
    "/tool",
    "/tool list_files {",
    "data: [DONE]\n\n",
    "${HOME}",
    "😀".repeat(100),
    "x".repeat(5_000),
  ),
);

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }),
  oddText,
  fc.constantFrom(null, 0, -1, 1e308, true, [], {}, [[]], [null], JSON.parse('{"__proto__":1}')),
);

/** Mostly what it should be, sometimes anything. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 30, arbitrary: right as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: anyJson },
  );

type Fields = Record<string, fc.Arbitrary<unknown>>;

/** An object of fields that are each mostly right, some of them not always there. */
function fields(needed: Fields, optional: Fields = {}): fc.Arbitrary<unknown> {
  const all: Fields = Object.fromEntries(
    Object.entries({ ...needed, ...optional }).map(([name, field]) => [name, mostly(field)]),
  );
  return mostly(fc.record(all, { requiredKeys: Object.keys(needed) }));
}

const dataUrls = fc.oneof(
  { weight: 4, arbitrary: fc.constant(`data:image/png;base64,${PNG.bytes.toBase64()}`) },
  fc.constantFrom(
    `data:image/png;base64,${PNG.bytes.slice(0, 20).toBase64()}`,
    "data:;base64,",
    "data:text/plain;base64,aGVsbG8=",
    "data:text/plain,hello",
    "data:application/pdf;base64,JVBERi0=",
    "https://example.com/a.png",
    "file:///etc/passwd",
  ),
  oddText.map((text) => `data:image/png;base64,${text}`),
  oddText,
);

const role = fc.constantFrom("user", "user", "user", "system", "developer", "assistant", "tool");

const chatPart = fc.oneof(
  fields({ type: fc.constant("text"), text: oddText }),
  fields({ type: fc.constant("image_url"), image_url: fields({ url: dataUrls }) }),
  fields({ type: fc.constant("file"), file: fields({ filename: oddText, file_data: dataUrls }) }),
);

const inputPart = fc.oneof(
  fields({ type: fc.constant("input_text"), text: oddText }),
  fields({ type: fc.constant("input_image"), image_url: dataUrls }),
  fields({ type: fc.constant("input_file"), filename: oddText, file_data: dataUrls }),
);

const inputItem = fc.oneof(
  inputPart,
  fields({ type: fc.constant("item_reference"), id: oddText }),
  fields({
    type: fc.constantFrom(
      ...Array(9).fill("message"),
      "function_call",
      "function_call_output",
      "reasoning",
    ),
    role,
    content: fc.oneof(oddText, fc.array(inputPart, { maxLength: 3 })),
  }),
);

const flag = fc.boolean();

const shared = {
  model: fc.constant("offline"),
  stream: flag,
  session_id: fc.constantFrom("a", "b", "c:d.e_f-1"),
  temperature: anyJson,
  tools: anyJson,
};

const bodies: Record<(typeof ROUTES)[number], fc.Arbitrary<unknown>> = {
  "/v1/chat/completions": fields({
    messages: fc.array(
      fields({ role, content: fc.oneof(oddText, fc.array(chatPart, { maxLength: 3 })) }),
      { minLength: 1, maxLength: 4 },
    ),
  }, {
    ...shared,
    stream_options: fields({}, { include_usage: flag, include_progress: flag }),
  }),
  "/v1/responses": fields({
    input: fc.oneof(oddText, fc.array(inputItem, { minLength: 1, maxLength: 4 })),
  }, {
    ...shared,
    previous_response_id: fc.constantFrom(null, null, null, "resp_none", "resp_\0"),
    store: flag,
    metadata: fc.dictionary(oddText, oddText, { maxKeys: 3 }),
    background: fc.constantFrom(false, false, false, true),
  }),
};

const visible = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});

const headers = fc.record({
  "idempotency-key": visible,
  "x-session-id": visible,
  "x-openwebui-task": visible,
}, { requiredKeys: [] });

const encoder = new TextEncoder();

const jsonRequest: fc.Arbitrary<AnyRequest> = fc.constantFrom(...ROUTES).chain((route) =>
  fc.record({
    route: fc.constant(route as string),
    type: fc.constant("application/json"),
    body: fc.oneof(
      { weight: 8, arbitrary: bodies[route] },
      { weight: 1, arbitrary: anyJson },
    ).map((value) => JSON.stringify(value)),
    headers: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: headers }),
  })
);

const formHead = fc.constantFrom(
  'form-data; name="message"',
  'form-data; name="files"; filename="a.png"',
  'form-data; name="files"; filename="../../etc/passwd"',
  "form-data; name=files; filename*=UTF-8''%e2%82",
  'form-data; name="session_id"',
  'form-data; name="stream"',
  "form-data",
  "",
);

const formRequest: fc.Arbitrary<AnyRequest> = fc.record({
  route: fc.constantFrom(...ROUTES),
  type: fc.constantFrom(
    "multipart/form-data; boundary=b",
    'multipart/form-data; boundary="b"',
    "multipart/form-data; boundary=",
    "multipart/form-data",
    "multipart/form-data; boundary=" + "b".repeat(100),
  ),
  body: fc.tuple(
    fc.array(
      fc.tuple(
        formHead,
        fc.oneof(oddText.map((text) => encoder.encode(text)), fc.constant(PNG.bytes)),
      ),
    ),
    fc.constantFrom("--b--\r\n", "--b--", "--b", "", "\r\n"),
    fc.nat(),
  ).map(([parts, end, cut]) => {
    const bytes = parts.flatMap(([head, content]) => [
      ...encoder.encode(`--b\r\nContent-Disposition: ${head}\r\n\r\n`),
      ...content,
      ...encoder.encode("\r\n"),
    ]);
    const whole = Uint8Array.from([...bytes, ...encoder.encode(end)]);
    return cut % 4 === 0 ? whole.slice(0, cut % (whole.length + 1)) : whole;
  }),
  headers: fc.constant({}),
});

/** A body that was right, damaged: bytes changed, cut out, doubled. */
const damagedRequest: fc.Arbitrary<AnyRequest> = fc.tuple(
  jsonRequest,
  fc.array(fc.tuple(fc.nat(), fc.nat(4), fc.uint8Array({ maxLength: 4 })), {
    minLength: 1,
    maxLength: 4,
  }),
).map(([request, damages]) => {
  let bytes = [...encoder.encode(String(request.body))];
  for (const [place, length, inserted] of damages) {
    const at = place % (bytes.length + 1);
    bytes = [...bytes.slice(0, at), ...inserted, ...bytes.slice(at + length)];
  }
  return { ...request, body: Uint8Array.from(bytes) };
});

Deno.test("any body on either route gets 200 or a proper 4xx, and the service stays whole", async () => {
  await using home = await makeHome({});
  await using service = await home.start();
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        { weight: 6, arbitrary: jsonRequest },
        { weight: 2, arbitrary: formRequest },
        { weight: 2, arbitrary: damagedRequest },
      ),
      async (request) => {
        const status = await send(service, request);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      },
    ),
    { numRuns: rounds(4_000, 500), interruptAfterTimeLimit: 30_000 },
  );
  const few = rounds(200, 20);
  assert((statuses.get(200) ?? 0) > few, `too few were answered: ${JSON.stringify([...statuses])}`);
  assert((statuses.get(400) ?? 0) > few, `too few were refused: ${JSON.stringify([...statuses])}`);
  await untilIdle(home);
  assertEquals((await statusOf(home)).pid, service.pid);
  assertEquals(await service.stop(), 0);
  const logged = service.log().split("\n").filter((line) => / 5\d\d |error|rejected/i.test(line));
  assertEquals(logged.filter((line) => !/ (200|4\d\d) /.test(line)), []);
});

Deno.test("bodies that are deep, wide or long get 200 or a proper 4xx, and cost no other request", async (t) => {
  await using home = await makeHome({});
  await using service = await home.start();
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const deepObject = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  const user = '{"role":"user","content":"hi"}';
  const wide = `{${Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join()}}`;
  const texts: Record<string, string> = {
    "a deep list": deep(1_000_000),
    "a deep list that does not end": "[".repeat(1_000_000),
    "a deep field that is ignored": `{"messages":[${user}],"input":"hi","tools":${deep(100_000)}}`,
    "a deep object in the history": `{"messages":[{"role":"assistant","content":${
      deepObject(100_000)
    }},${user}]}`,
    "a deep item in the history": `{"input":[{"role":"assistant","content":${
      deepObject(100_000)
    }},${user}]}`,
    "a deep content": `{"messages":[{"role":"user","content":${deep(50_000)}}],"input":${
      deep(50_000)
    }}`,
    "a wide object": wide,
    "a wide field that is ignored": `{"messages":[${user}],"input":"hi","tools":${wide}}`,
    "a hundred thousand messages": `{"messages":[${Array(100_000).fill(user).join()}]}`,
    "a hundred thousand items": `{"input":[${Array(100_000).fill(user).join()}]}`,
    "a hundred thousand parts": `{"messages":[{"role":"user","content":[${
      Array(100_000).fill('{"type":"text","text":"x"}').join()
    }]}]}`,
    "a long number": `{"messages":[${user}],"input":"hi","temperature":${"9".repeat(1_000_000)}}`,
    "a long key": `{"messages":[${user}],"input":"hi","${"k".repeat(1_000_000)}":1}`,
    "the same key again and again": `{${'"input":"hi",'.repeat(100_000)}"messages":[${user}]}`,
    "a long name of a field that is wrong":
      `{"messages":[{"role":"user","content":[{"type":"text","${"k".repeat(1_000_000)}":1}]}],` +
      `"input":"hi","metadata":{"${"k".repeat(1_000_000)}":1}}`,
    "prototypes":
      `{"__proto__":{"messages":[${user}]},"constructor":{"prototype":{}},"input":"hi"}`,
  };
  for (const [name, body] of Object.entries(texts)) {
    await t.step(name, async () => {
      for (const route of ROUTES) {
        const key = { "idempotency-key": crypto.randomUUID(), "x-session-id": "deep" };
        for (const headers of [{ "x-session-id": "deep" }, key]) {
          await send(service, { route, type: "application/json", body, headers });
        }
      }
    });
  }
  assertEquals((await statusOf(home)).pid, service.pid);
  assertEquals((await fetch(`${service.apiUrl}/ready`)).status, 200);
});
