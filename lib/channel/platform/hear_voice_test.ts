import { assertEquals } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { hearVoice } from "./hear_voice.ts";

Deno.test("hearVoice() gives what is said", async () => {
  const heard = await hearVoice("a.ogg", (path) => Promise.resolve(` said in ${path}\n`));
  assertEquals(heard, { kind: "text", text: "said in a.ogg" });
});

Deno.test("hearVoice() tells what is switched off from what has failed", async () => {
  const off = () => Promise.reject(new ServiceError("not_enabled", "no transcription"));
  assertEquals(await hearVoice("a.ogg", off), { kind: "off" });
  const failing = () => Promise.reject(new Error("too long"));
  assertEquals(await hearVoice("a.ogg", failing), { kind: "failed", reason: "too long" });
  const silent = await hearVoice("a.ogg", () => Promise.resolve("  "));
  assertEquals(silent, { kind: "failed", reason: "nothing was said in it" });
});
