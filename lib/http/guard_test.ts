import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { bodyType, BrowserGuard, type GuardExceptions } from "./guard.ts";

const guard = new BrowserGuard({
  allowedHosts: ["Agent.Example", "other.example:8443"],
  allowedOrigins: ["https://App.example/", "tauri://localhost", "null", "*"],
});

/** The slug that a request is refused with, undefined if it passes. */
function refusal(
  headers: Record<string, string>,
  exceptions: GuardExceptions = {},
  method = "GET",
): string | undefined {
  const request = new Request("http://unused.example/v1/models", { method });
  // Not through the constructor: it drops what a page may not set, which is what this is about.
  Object.defineProperty(request, "headers", { value: new Headers(headers) });
  try {
    guard.check(request, exceptions);
  } catch (error) {
    return (error as ServiceError).code;
  }
}

for (
  const host of [
    "127.0.0.1:8900",
    "127.0.0.1",
    "192.168.1.20:8900",
    "[::1]:8900",
    "[fe80::1]",
    "localhost",
    "LOCALHOST:8900",
    "localhost.:8900",
    "app.localhost:1",
    "agent.example",
    "agent.example:1234",
    "other.example:8443",
  ]
) {
  Deno.test(`BrowserGuard accepts the Host ${host}`, () => {
    assertEquals(refusal({ host }), undefined);
  });
}

for (
  const host of [
    "evil.example",
    "evil.example:8900",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "notlocalhost",
    "other.example",
    "other.example:1",
    "256.1.1.1",
    "1.2.3",
    "127.0.0.1, evil.example",
    "[evil.example]",
    "",
    "a b",
  ]
) {
  Deno.test(`G23 BrowserGuard refuses the Host "${host}"`, () => {
    assertEquals(refusal({ host }), "forbidden_host");
    assertEquals(refusal({ host }, { anyHost: true }), undefined);
  });
}

const host = "127.0.0.1:8900";

for (
  const [name, headers, expected] of [
    ["no Origin", {}, undefined],
    ["its own origin", { origin: "http://127.0.0.1:8900" }, undefined],
    ["an allowed origin", { origin: "https://app.example" }, undefined],
    ["an allowed origin of a shell", { origin: "tauri://localhost" }, undefined],
    [
      "an allowed origin that says cross-site",
      { origin: "https://app.example", "sec-fetch-site": "cross-site" },
      undefined,
    ],
    ["another port", { origin: "http://127.0.0.1:3000" }, "forbidden_origin"],
    ["another scheme", { origin: "https://127.0.0.1:8900" }, "forbidden_origin"],
    ["another host", { origin: "http://evil.example" }, "forbidden_origin"],
    ["a longer name", { origin: "https://app.example.evil.example" }, "forbidden_origin"],
    ["the origin null", { origin: "null" }, "forbidden_origin"],
    ["a star", { origin: "*" }, "forbidden_origin"],
    ["cross-site without Origin", { "sec-fetch-site": "cross-site" }, "forbidden_origin"],
    ["same-origin", { "sec-fetch-site": "same-origin" }, undefined],
    ["typed by hand", { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }, undefined],
  ] as [string, Record<string, string>, string | undefined][]
) {
  Deno.test(`G23 BrowserGuard ${expected ? "refuses" : "accepts"} ${name}`, () => {
    assertEquals(refusal({ host, ...headers }), expected);
    assertEquals(refusal({ host, ...headers }, {}, "POST"), expected);
  });
}

Deno.test("BrowserGuard lets a link lead to a static page by GET alone", () => {
  const headers = { host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  assertEquals(refusal(headers), "forbidden_origin");
  assertEquals(refusal(headers, { page: true }), undefined);
  assertEquals(refusal(headers, { page: true }, "POST"), "forbidden_origin");
  assertEquals(
    refusal({ ...headers, "sec-fetch-mode": "no-cors" }, { page: true }),
    "forbidden_origin",
  );
});

Deno.test("BrowserGuard takes the own origin without its default port", () => {
  assertEquals(refusal({ host: "localhost:80", origin: "http://localhost" }), undefined);
});

Deno.test("BrowserGuard takes the host from the URL when there is no Host header", () => {
  guard.check(new Request("http://127.0.0.1:8900/"));
  assertThrows(() => guard.check(new Request("http://evil.example/")), ServiceError);
});

Deno.test("G23 BrowserGuard accepts no name that is not listed, whatever it looks like", () => {
  fc.assert(fc.property(fc.domain(), (name) => {
    fc.pre(!name.endsWith(".localhost") && name !== "agent.example");
    assertEquals(refusal({ host: name }), "forbidden_host");
    assertEquals(refusal({ host, origin: `http://${name}` }), "forbidden_origin");
  }));
});

function post(body: string | undefined, type?: string): Request {
  const request = new Request("http://x/", { method: "POST", body });
  request.headers.delete("content-type");
  if (type !== undefined) request.headers.set("content-type", type);
  if (body !== undefined) request.headers.set("content-length", String(body.length));
  return request;
}

Deno.test("bodyType() knows JSON and forms, with parameters and in any case", () => {
  assertEquals(bodyType(post("{}", "application/json")), "application/json");
  assertEquals(bodyType(post("{}", "Application/JSON; charset=utf-8")), "application/json");
  assertEquals(bodyType(post("x", "multipart/form-data; boundary=x")), "multipart/form-data");
  assertEquals(bodyType(post(undefined)), undefined);
  assertEquals(bodyType(post("")), undefined);
});

for (
  const type of [
    undefined,
    "text/plain",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/json, text/plain",
  ]
) {
  Deno.test(`G23 bodyType() refuses ${type ?? "a body without a type"}`, () => {
    assertEquals(
      assertThrows(() => bodyType(post("{}", type)), ServiceError).code,
      "unsupported_media_type",
    );
  });
}
