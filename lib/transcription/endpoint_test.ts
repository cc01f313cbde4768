import { assertEquals } from "@std/assert";
import { configSchema } from "../config/schema.ts";
import { transcriptionEndpoint, transcriptionProblem } from "./endpoint.ts";

Deno.test("transcriptionEndpoint() goes on from the base URL, whatever it ends with", () => {
  for (
    const [baseUrl, url, host, port] of [
      [
        "https://api.openai.com/v1",
        "https://api.openai.com/v1/audio/transcriptions",
        "api.openai.com",
        443,
      ],
      ["http://[::1]:8000/", "http://[::1]:8000/audio/transcriptions", "::1", 8000],
      [
        "HTTP://Whisper.example/v1//?key=1#x",
        "http://whisper.example/v1/audio/transcriptions?key=1",
        "whisper.example",
        80,
      ],
    ] as const
  ) {
    assertEquals(transcriptionEndpoint({ baseUrl }), { url, host, port });
  }
});

Deno.test("transcriptionProblem() refuses what could not be sent, or would be shown", () => {
  const { transcription } = configSchema.parse({});
  assertEquals(transcription.enabled, false);
  assertEquals(transcriptionProblem(transcription), undefined);
  const keyOf = (changes: object) => transcriptionProblem({ ...transcription, ...changes })?.key;
  assertEquals(keyOf({ baseUrl: "https://me:pw@example.com/v1" }), "baseUrl");
  assertEquals(keyOf({ apiKey: "schlüssel" }), "apiKey");
  assertEquals(keyOf({ apiKey: "a b" }), "apiKey");
});
