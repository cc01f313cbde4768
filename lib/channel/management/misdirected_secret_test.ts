import { assertEquals } from "@std/assert";
import { testDescriptor } from "../setup/testing/test_descriptor.ts";
import { accountsAdapter } from "./accounts_adapter.ts";
import { misdirectedSecret } from "./misdirected_secret.ts";

const descriptor = testDescriptor();
const SINGLE = { descriptor };
const MULTI = { descriptor, adapter: accountsAdapter(descriptor) };
const STORED = { server: "a.example", port: 7, botToken: "s3cret-token", tls: true };

Deno.test("misdirectedSecret() finds the address that a stored secret would be sent to", () => {
  const field = (change: object) =>
    misdirectedSecret(SINGLE, STORED, { ...STORED, ...change })?.field;
  assertEquals(field({ server: "evil.example" }), "server");
  assertEquals(field({ server: "" }), "server");
  assertEquals(field({ port: 8 }), "port");
  assertEquals(field({ tls: false }), "tls");
  assertEquals(field({ port: "7", nick: "b", rooms: ["a"] }), undefined);
  assertEquals(field({ server: "b.example", botToken: "another-one" }), undefined);
  assertEquals(misdirectedSecret(SINGLE, { server: "a" }, { server: "b" }), undefined);
});

Deno.test("misdirectedSecret() finds one that another instance would take over", () => {
  const before = { ...STORED, accounts: { work: { server: "b.example", botToken: "w-token" } } };
  const after = (accounts: object) =>
    misdirectedSecret(MULTI, before, { ...before, accounts: { ...before.accounts, ...accounts } });
  assertEquals(after({ evil: { server: "evil.example" } }), {
    runtimeName: "chat.evil",
    field: "server",
  });
  assertEquals(after({ evil: { botToken: "w-token" } })?.runtimeName, "chat.evil");
  assertEquals(after({ more: {} }), undefined);
  assertEquals(after({ more: { server: "c.example", botToken: "new-token" } }), undefined);
  assertEquals(after({ more: { server: "b.example", botToken: "w-token" } }), undefined);
});

Deno.test("misdirectedSecret() finds what a change of the shared top would take along", () => {
  const before = { ...STORED, accounts: { work: { botToken: "w-token" } } };
  const found = misdirectedSecret(MULTI, before, {
    ...before,
    server: "evil.example",
    botToken: "given-anew",
  });
  assertEquals(found, { runtimeName: "chat.work", field: "server" });
});
