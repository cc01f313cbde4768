/** What is said in audio, over a real gateway: the wire on one side, an endpoint's HTTP on the other. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startTranscriptionServer } from "./fakes/transcription_server.ts";
import { makeHome } from "./support/home.ts";
import { WireSocket } from "./support/wire_socket.ts";

const KEY = "sk-a-key-of-many-letters";
const OGG = new TextEncoder().encode("OggS and what is said");

Deno.test("transcribe_audio gives what an endpoint heard, and no key that the endpoint repeats", async () => {
  await using server = startTranscriptionServer({
    script: [{ text: "Good day." }, { status: 401, error: `The key ${KEY} is not known` }],
  });
  const { baseUrl } = server;
  await using home = await makeHome({ transcription: { enabled: true, baseUrl, apiKey: KEY } });
  await using gateway = await home.start(["gateway", "--json"]);
  using socket = await WireSocket.open(gateway.wsUrl);
  const ask = (request_id: string, bytes: Uint8Array) =>
    socket.send({
      type: "transcribe_audio",
      request_id,
      data_url: `data:audio/ogg;base64,${bytes.toBase64()}`,
    });

  ask("heard", OGG);
  const { text } = await socket.next("transcription_result", (it) => it.request_id === "heard");
  assertEquals(text, "Good day.");
  const [{ headers, form }] = server.requests as [typeof server.requests[number]];
  assertEquals(headers.get("authorization"), `Bearer ${KEY}`);
  assertEquals(await (form.get("file") as File).bytes(), OGG);

  ask("refused", OGG);
  const refused = await socket.next("transcription_error", (it) => it.request_id === "refused");
  assertStringIncludes(refused.detail, "401");
  // What is no audio is not sent at all.
  ask("no-audio", new TextEncoder().encode("<html>"));
  const noAudio = await socket.next("transcription_error", (it) => it.request_id === "no-audio");
  assertStringIncludes(noAudio.detail, "Ogg");
  assertEquals(server.requests.length, 2);
  assert(!JSON.stringify(socket.frames).includes(KEY));
});
