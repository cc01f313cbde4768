import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { applyPatch, readPatch } from "./apply_values.ts";
import { testDescriptor } from "./testing/test_descriptor.ts";

const CHAT = testDescriptor();

function set(stored: Record<string, unknown>, values: Record<string, unknown>) {
  return applyPatch(stored, readPatch(values, CHAT), CHAT);
}

function refusal(values: Record<string, unknown>): ServiceError {
  const error = assertThrows(() => readPatch(values, CHAT), ServiceError);
  assertEquals(error.code, "invalid_request");
  assertStringIncludes(error.message, "Nothing was written");
  return error;
}

Deno.test("readPatch() refuses a field outside of the contract, and names it (C10)", () => {
  const error = refusal({ nick: "a", colour: "red" });
  assertEquals(error.details.param, "colour");
  assertStringIncludes(error.message, '"colour" is no field of channels.chat; fields are ');
  assertStringIncludes(refusal({ bottoken: "x" }).message, "did you mean botToken?");
  assertStringIncludes(refusal({ enabled: true }).message, "enable or disable chat instead");
  for (const name of ["__proto__", "constructor", "accounts"]) {
    assertEquals(refusal(JSON.parse(`{"${name}": {}}`)).details.param, name);
  }
  assert(refusal({ ["x".repeat(1e6)]: 1 }).message.length < 1_000);
});

Deno.test("a blank secret keeps the stored one, and null clears it (C11)", () => {
  const stored = { bot_token: "s3cret-token", nick: "a" };
  for (const blank of ["", "  ", "********", undefined]) {
    assertEquals(set(stored, { botToken: blank }), { botToken: "s3cret-token", nick: "a" });
  }
  assertEquals(set(stored, { botToken: null }), { nick: "a" });
  assertEquals(set(stored, { bot_token: " new one " }), { botToken: " new one ", nick: "a" });
  assert(!refusal({ botToken: 12_345_678 }).message.includes("12345678"));
});

Deno.test("readPatch() has values as the contract wants them (C12)", () => {
  const values = { rooms: "a, b,,c", tls: "yes", port: "7", mode: "all", allow_from: "x,y" };
  assertEquals(readPatch(values, CHAT), {
    rooms: ["a", "b", "c"],
    tls: true,
    port: 7,
    mode: "all",
    allowFrom: ["x", "y"],
  });
  assertEquals(
    refusal({ mode: "loud" }).message,
    'mode is "loud": expected one of "all", "mention". Nothing was written',
  );
  assertEquals(refusal({ nick: "a", port: 0 }).details.param, "port");
  assertEquals(refusal({ allowFrom: ["a"], allow_from: ["b"] }).details.param, "allowFrom");
});

Deno.test("a blank number or choice goes back to its default", () => {
  assertEquals(set({ port: 7, mode: "all", nick: "a" }, { port: "", mode: " ", nick: null }), {});
});

Deno.test("readPatch() takes no references: they would send what is kept to a platform", () => {
  for (const values of [{ nick: "${HOME}" }, { botToken: "${secret:KEY}" }, { rooms: ["${A}"] }]) {
    assertStringIncludes(refusal(values).message, "takes no reference");
  }
});

Deno.test("applyPatch() leaves what it does not know, and what stands there untouched", () => {
  const stored = { accounts: { a: { nick: "x" } }, odd_one: 1, nick: "a" };
  const next = set(stored, { nick: "b" });
  assertEquals(next, { accounts: { a: { nick: "x" } }, odd_one: 1, nick: "b" });
  assert(next.accounts === stored.accounts);
  assertEquals(stored.nick, "a");
});
