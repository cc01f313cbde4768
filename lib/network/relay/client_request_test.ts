import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { readClientRequest } from "./client_request.ts";
import { rounds } from "../../../tests/support/rounds.ts";

const read = (...lines: string[]) => readClientRequest(`${lines.join("\r\n")}\r\n\r\n`);

Deno.test("readClientRequest() reads a tunnel, whatever headers clients send with it", () => {
  assertEquals(
    read("CONNECT a.example:443 HTTP/1.1", "Host: a.example:443", "Proxy-Connection: Keep-Alive"),
    { kind: "tunnel", to: { host: "a.example", port: 443 } },
  );
});

Deno.test("readClientRequest() makes of an absolute URL what the host itself is sent", () => {
  assertEquals(
    read(
      "POST http://A.example:8080/x?y#z HTTP/1.1",
      "Host: another.example",
      "Proxy-Authorization: Basic eA==",
      "Proxy-Connection: keep-alive",
      "Connection: keep-alive, X",
      "Content-Length: 3",
      "X: 1",
    ),
    {
      kind: "forward",
      to: { host: "a.example", port: 8080 },
      head: "POST /x?y HTTP/1.1\r\nHost: a.example:8080\r\nContent-Length: 3\r\nX: 1\r\n" +
        "Connection: close\r\n\r\n",
      body: 3,
    },
  );
  const request = read("GET http://[2001:db8::1]/ HTTP/1.0", "Transfer-Encoding: Chunked");
  assert(request.kind === "forward");
  assertEquals([request.to, request.body], [{ host: "2001:db8::1", port: 80 }, "chunked"]);
});

Deno.test("readClientRequest() refuses what could be read in two ways", () => {
  const get = "GET http://a.example/ HTTP/1.1";
  const bad = [
    [""],
    ["GET / HTTP/1.1"],
    ["GET  http://a.example/ HTTP/1.1"],
    ["GET http://a.example/ HTTP/1.1 "],
    ["GET http://a.example/ HTTP/2"],
    ["GET http://a.example/ b HTTP/1.1"],
    ["GET https://a.example/ HTTP/1.1"],
    ["GET ftp://a.example/ HTTP/1.1"],
    ["GET file:///etc/passwd HTTP/1.1"],
    ["GET http://u:p@a.example/ HTTP/1.1"],
    ["GET http://a.example:99999/ HTTP/1.1"],
    ["G\0T http://a.example/ HTTP/1.1"],
    ["CONNECT a.example HTTP/1.1"],
    ["CONNECT a.example:443\r HTTP/1.1"],
    [get, "Host : a"],
    [get, " folded"],
    [get, "X: a\nY: b"],
    [get, "X: a\rY: b"],
    [get, "X: a\0b"],
    [get, ": nameless"],
    [get, "Content-Length: 1", "Content-Length: 2"],
    [get, "Content-Length: 1", "Content-Length: 1"],
    [get, "Content-Length: 1, 2"],
    [get, "Content-Length: +1"],
    [get, "Content-Length: 0x1"],
    [get, "Content-Length: "],
    [get, "Content-Length: 1", "Transfer-Encoding: chunked"],
    [get, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    [get, "Transfer-Encoding: gzip, chunked"],
    [get, "Transfer-Encoding: xchunked"],
  ];
  for (const lines of bad) assertEquals(read(...lines).kind, "refused", JSON.stringify(lines));
});

Deno.test("readClientRequest() puts one request into a head, whatever it is given", () => {
  const line = fc.oneof(fc.string(), fc.constantFrom("X: 1", "Host: a", "Content-Length: 1"));
  fc.assert(
    fc.property(fc.webUrl({ validSchemes: ["http"] }), fc.array(line), (url, lines) => {
      const request = read(`GET ${url} HTTP/1.1`, ...lines);
      if (request.kind !== "forward") return;
      assertEquals(request.head.split("\r\n\r\n").length, 2);
      assertEquals(request.head.match(/[^\r]\n|\r[^\n]|\0/), null);
      assertEquals(request.head.match(/^host:/gim)?.length, 1);
    }),
    { numRuns: rounds(100, 20) },
  );
});
