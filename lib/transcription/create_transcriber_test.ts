import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { systemClock } from "../base/clock.ts";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { configSchema, type TranscriptionConfig } from "../config/schema.ts";
import { type ErrorCode, ServiceError } from "../base/errors.ts";
import { withFolder } from "../journal/testing/steps.ts";
import {
  startTranscriptionServer,
  type TranscriptionBehaviour,
} from "../../tests/fakes/transcription_server.ts";
import { createTranscriber, type TranscriberDeps } from "./create_transcriber.ts";
import { freePort } from "../../tests/support/free_port.ts";

const NEVER = new AbortController().signal;
const KEY = "sk-a-key-of-many-letters";
const OGG = new TextEncoder().encode("OggS and what is said");

const urlOf = (bytes: Uint8Array, type = "audio/ogg;codecs=opus") =>
  `data:${type};base64,${bytes.toBase64()}`;

function transcriber(
  changes: Partial<TranscriptionConfig> = {},
  deps: Partial<TranscriberDeps> = {},
) {
  const { transcription } = configSchema.parse({ transcription: { enabled: true, ...changes } });
  return createTranscriber({
    config: transcription,
    fetch,
    clock: systemClock,
    log: { warning: () => {} },
    ...deps,
  });
}

async function refusal(work: Promise<unknown>): Promise<ServiceError> {
  return await assertRejects(() => work, ServiceError);
}

Deno.test("ofDataUrl() posts the audio with model, language and key, and gives the text", async () => {
  await using server = startTranscriptionServer({ script: [{ text: " Good day. \n" }] });
  const { baseUrl } = server;
  const config = { baseUrl: `${baseUrl}/`, apiKey: KEY, model: "whisper-large", language: "de" };
  assertEquals(await transcriber(config).ofDataUrl(urlOf(OGG), NEVER), "Good day.");
  const { path, headers, form } = server.requests[0]!;
  assertEquals(path, "/v1/audio/transcriptions");
  assertEquals(headers.get("authorization"), `Bearer ${KEY}`);
  const { file, ...fields } = Object.fromEntries(form);
  assertEquals(fields, { model: "whisper-large", language: "de", response_format: "json" });
  assert(file instanceof File);
  assertEquals([file.name, file.type], ["audio.ogg", "audio/ogg"]);
  assertEquals(await file.bytes(), OGG);
});

Deno.test("without a key and a language none is sent", async () => {
  await using server = startTranscriptionServer({ script: [{ text: "" }] });
  assertEquals(await transcriber({ baseUrl: server.baseUrl }).ofDataUrl(urlOf(OGG), NEVER), "");
  const { headers, form } = server.requests[0]!;
  assertEquals([headers.get("authorization"), form.get("language")], [null, null]);
});

Deno.test("what is no audio, or too much of it, is refused before anything is sent", async () => {
  await using server = startTranscriptionServer();
  const { ofDataUrl } = transcriber({ baseUrl: server.baseUrl, maxBytes: 1_000 });
  const large = new Uint8Array(1_001);
  large.set(OGG);
  const cases: [string, ErrorCode][] = [
    ["", "invalid_request"],
    ["https://example.com/a.ogg", "invalid_request"],
    ["data:audio/ogg,OggS", "invalid_request"],
    ["data:audio/ogg;base64,Og*S", "invalid_request"],
    ["data:audio/ogg;base64,", "invalid_request"],
    [urlOf(OGG, "image/png"), "unsupported_media_type"],
    [urlOf(OGG, "text/html"), "unsupported_media_type"],
    [urlOf(new TextEncoder().encode("RIFF")), "unsupported_media_type"],
    [urlOf(new TextEncoder().encode("<html>a page</html>")), "unsupported_media_type"],
    [urlOf(large), "too_large"],
    [urlOf(new Uint8Array(1_000_000)), "too_large"],
  ];
  for (const [url, code] of cases) {
    const error = await refusal(ofDataUrl(url, NEVER));
    assertEquals([error.code, error.details.param], [code, "data_url"], url.slice(0, 60));
  }
  assertEquals(server.requests, []);
  // As long as may be, whatever browsers call it.
  const most = large.subarray(0, 1_000);
  for (const type of ["", "video/webm", "audio/x-wav", "application/octet-stream"]) {
    assertEquals(await ofDataUrl(urlOf(most, type), NEVER), "ok");
  }
});

Deno.test("while it is off it says so, and what switches it on", async () => {
  const { ofDataUrl, ofFile } = transcriber({ enabled: false });
  for (
    const work of [
      ofDataUrl("anything", NEVER),
      ofFile({ path: "/etc/passwd", folder: "/" }, NEVER),
    ]
  ) {
    const { code, message } = await refusal(work);
    assertEquals(code, "not_enabled");
    assertStringIncludes(message, "transcription.enabled");
  }
});

Deno.test("an endpoint that refuses, redirects, breaks off or answers nonsense is told in words, without the key", async () => {
  const cases: [TranscriptionBehaviour, ErrorCode, string][] = [
    [{ status: 401, error: `Incorrect API key: ${KEY}.` }, "provider_error", "[secret]"],
    [{ status: 500, body: "<html>" }, "provider_error", "answers with status 500"],
    [
      { status: 429, error: "slow down", headers: { "retry-after": "7" } },
      "provider_rate_limited",
      "slow down",
    ],
    [
      { status: 307, headers: { location: "http://127.0.0.1:9/steal" } },
      "provider_error",
      "redirects",
    ],
    [{ body: "<html>a page</html>" }, "provider_error", "no transcription"],
    [{ body: '{"segments": []}' }, "provider_error", "no transcription"],
    [{ body: "null" }, "provider_error", "no transcription"],
    [{ body: '{"text": 7}' }, "provider_error", "no transcription"],
    [{ body: " ".repeat(5 * 1024 * 1024) }, "provider_error", "longer than"],
    [{ breakOff: true }, "provider_error", "broke off"],
  ];
  await using server = startTranscriptionServer({ script: cases.map(([behaviour]) => behaviour) });
  const lines: string[] = [];
  const { ofDataUrl } = transcriber({ baseUrl: server.baseUrl, apiKey: KEY }, {
    log: { warning: (message, fields) => void lines.push(`${message} ${fields?.reason}`) },
  });
  for (const [behaviour, code, words] of cases) {
    const error = await refusal(ofDataUrl(urlOf(OGG), NEVER));
    assertEquals(error.code, code, JSON.stringify(behaviour).slice(0, 100));
    assertStringIncludes(error.message, words);
    assertEquals(error.message.includes(KEY), false);
    if (behaviour.status === 429) assertEquals(error.details.retryAfterS, 7);
  }
  assertEquals([server.requests.length, lines.length], [cases.length, cases.length]);
});

Deno.test("an endpoint that is down, or answers too late, is told in words", async () => {
  const port = freePort();
  const down = transcriber({ baseUrl: `http://127.0.0.1:${port}/v1?secret=1` });
  const { code, message } = await refusal(down.ofDataUrl(urlOf(OGG), NEVER));
  assertEquals(code, "provider_unreachable");
  assertStringIncludes(message, `127.0.0.1:${port} cannot be reached: connection refused`);
  assertEquals(message.includes("secret=1"), false);

  await using server = startTranscriptionServer({ script: [{ hang: true }, {}] });
  const clock = fakeClock();
  const { ofDataUrl } = transcriber({ baseUrl: server.baseUrl, timeoutS: 30 }, { clock });
  const late = ofDataUrl(urlOf(OGG), NEVER);
  await server.came(1);
  clock.tick(30_000);
  const error = await refusal(late);
  assertEquals(error.code, "provider_unreachable");
  assertStringIncludes(error.message, "did not answer in 30 s");
  assertEquals(await ofDataUrl(urlOf(OGG), NEVER), "ok");
  assertEquals(clock.timers(), 0);
});

Deno.test("a fetch that does not heed its signal holds nobody up", async () => {
  const clock = fakeClock();
  const asked = Promise.withResolvers<void>();
  const deaf = () => {
    asked.resolve();
    return new Promise<Response>(() => {});
  };
  const { ofDataUrl } = transcriber({ timeoutS: 1 }, { clock, fetch: deaf });
  const late = ofDataUrl(urlOf(OGG), NEVER);
  await asked.promise;
  clock.tick(1_000);
  assertEquals((await refusal(late)).code, "provider_unreachable");
});

Deno.test("four are sent at a time, 16 wait, more are refused; whoever goes frees a place", async () => {
  await using server = startTranscriptionServer({
    script: [...Array.from({ length: 4 }, () => ({ hang: true })), {}],
  });
  const { ofDataUrl } = transcriber({ baseUrl: server.baseUrl });
  const gone = new AbortController();
  const hanging = Array.from({ length: 4 }, () => ofDataUrl(urlOf(OGG), gone.signal));
  await server.came(4);
  const leaving = new AbortController();
  const left = ofDataUrl(urlOf(OGG), leaving.signal);
  const waiting = Array.from({ length: 15 }, () => ofDataUrl(urlOf(OGG), NEVER));
  const refused = await refusal(ofDataUrl(urlOf(OGG), NEVER));
  assertEquals([refused.code, refused.details.retryAfterS], ["queue_full", 5]);
  leaving.abort(new Error("left"));
  await assertRejects(() => left, Error, "left");
  waiting.push(ofDataUrl(urlOf(OGG), NEVER));
  assertEquals(server.requests.length, 4);
  gone.abort(new Error("gone"));
  for (const each of hanging) await assertRejects(() => each, Error, "gone");
  assertEquals(await Promise.all(waiting), waiting.map(() => "ok"));
  assertEquals(server.requests.length, 20);
});

Deno.test("ofFile() takes files of the channel's folder alone", () =>
  withFolder(async (dir) => {
    await using server = startTranscriptionServer({ script: [{ text: "a voice" }] });
    const { ofFile } = transcriber({ baseUrl: server.baseUrl, maxBytes: 1_000 });
    const folder = join(dir, "own");
    await Deno.mkdir(folder);
    await Deno.writeFile(join(folder, "voice"), OGG);
    await Deno.writeFile(join(folder, "long"), new Uint8Array(1_001));
    await Deno.writeFile(join(dir, "secret"), OGG);
    await Deno.symlink(join(dir, "secret"), join(folder, "link"));
    assertEquals(await ofFile({ path: join(folder, "voice"), folder }, NEVER), "a voice");
    for (
      const [path, code] of [
        [join(folder, "link"), "invalid_request"],
        [join(dir, "secret"), "invalid_request"],
        [`${folder}/../secret`, "invalid_request"],
        [folder, "invalid_request"],
        [join(folder, "none"), "invalid_request"],
        [join(folder, "long"), "too_large"],
      ] as const
    ) {
      const error = await refusal(ofFile({ path, folder }, NEVER));
      assertEquals([error.code, error.details.param], [code, "path"], path);
    }
    assertEquals(server.requests.length, 1);
  }));
