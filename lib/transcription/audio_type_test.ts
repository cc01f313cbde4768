import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { audioType } from "./audio_type.ts";

const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

Deno.test("audioType() knows what endpoints take by its first bytes", () => {
  for (
    const [head, extension] of [
      ["OggS\0\x02", "ogg"],
      ["fLaC\0", "flac"],
      ["RIFF\x24\0\0\0WAVEfmt ", "wav"],
      ["\0\0\0\x20ftypM4A \0", "m4a"],
      ["\0\0\0\x20ftypisom\0", "mp4"],
      ["\0\0\0\x20ftypmp42\0", "mp4"],
      ["\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm", "webm"],
      ["ID3\x04\0", "mp3"],
      ["\xff\xfb\x90\x44", "mp3"],
      ["\xff\xf3\x40\xc4", "mp3"],
    ] as const
  ) {
    assertEquals(audioType(bytes(head))?.extension, extension, JSON.stringify(head));
  }
});

Deno.test("audioType() takes nothing else for audio", () => {
  for (
    const head of [
      "",
      "O",
      "\x89PNG\r\n\x1a\n",
      "RIFF\x24\0\0\0WEBPVP8 ",
      "RIFF\x24\0\0\0AVI ",
      "\0\0\0\x20ftypheic",
      "\0\0\0\x20ftypavif",
      "\x1a\x45\xdf\xa3\x42\x82\x88matroska",
      // AAC in ADTS, which is no layer of MPEG audio.
      "\xff\xf1\x50\x80",
      "\xff\xff\xff\xff",
      "\xff\xd8\xff\xe0",
      "%PDF-1.7",
      "#!AMR\n",
      "<html>",
    ]
  ) {
    assertEquals(audioType(bytes(head)), undefined, JSON.stringify(head));
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (any) => {
    audioType(any);
  }));
});
