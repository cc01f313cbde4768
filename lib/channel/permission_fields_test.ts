import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { fillPermissions, placeholdersIn } from "./permission_fields.ts";

function hosts(entry: string, values: Record<string, unknown>): readonly string[] {
  return fillPermissions({ hosts: [entry], paths: [], variables: [] }, values, "channels.a").hosts;
}

Deno.test("placeholdersIn() names the fields of an entry", () => {
  assertEquals(placeholdersIn("{host}:{port}"), ["host", "port"]);
  assertEquals(placeholdersIn("api.example:443"), []);
});

Deno.test("fillPermissions() has values in the places of fields", () => {
  assertEquals(hosts("{host}:{port}", { host: " a.example ", port: 993 }), ["a.example:993"]);
  assertEquals(hosts("{host}:{port}", { host: "::1", port: 1 }), ["[::1]:1"]);
  assertEquals(hosts("{host}:{port}", { host: "10.0.0.1", port: 1 }), ["10.0.0.1:1"]);
  assertEquals(hosts("api.example", {}), ["api.example"]);
  assertEquals(hosts("{host}", { host: "{port}", port: 1 }), ["{port}"]);
});

Deno.test("fillPermissions() leaves out an entry with an empty value", () => {
  for (const host of ["", " ", undefined, null, true, {}, []]) {
    assertEquals(hosts("{host}:{port}", { host, port: 993 }), []);
  }
});

Deno.test("fillPermissions() has an entry for each item of a list", () => {
  assertEquals(hosts("{rooms}:1", { rooms: ["a", "", "b"] }), ["a:1", "b:1"]);
  assertThrows(() => hosts("{a}:{b}", { a: ["x"], b: ["y"] }), RangeError, "more than one list");
});

Deno.test("fillPermissions() takes the host and port of a URL", () => {
  const of = (url: string) => hosts("{url}", { url });
  assertEquals(of("https://me:pw@hook.example/a?b"), ["hook.example:443"]);
  assertEquals(of("http://hook.example"), ["hook.example:80"]);
  assertEquals(of("wss://[::1]:7/x"), ["[::1]:7"]);
  assertEquals(of("file:///etc/passwd"), ["file:///etc/passwd"]);
});

Deno.test("fillPermissions() lets no value stand for several hosts, only the manifest", () => {
  assertEquals(hosts("*.chat.example:443", {}), ["*.chat.example:443"]);
  for (const url of ["*.chat.example", "https://%2a.chat.example/", "wss://*.chat.example"]) {
    const error = assertThrows(() => hosts("{url}", { url }), ServiceError, "channels.a.url");
    assertEquals(error.code, "config_invalid");
  }
  assertThrows(() => hosts("{host}:{port}", { host: "*.a.b", port: 1 }), ServiceError, "a *");
});

Deno.test("fillPermissions() has paths and variables too", () => {
  assertEquals(
    fillPermissions(
      { hosts: [], paths: ["{file}", "/a/{file}"], variables: ["X"] },
      { file: "b" },
      "channels.a",
    ),
    { hosts: [], paths: ["b", "/a/b"], variables: ["X"] },
  );
});
