import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  connectHead,
  MAX_ANSWER_BYTES,
  MAX_CONNECT_BYTES,
  parseConnectHead,
  parseHostPort,
  refusalHead,
} from "./connect_head.ts";

Deno.test("parseConnectHead() reads what connectHead() writes, and its longest fits the bound", () => {
  const name = fc.stringMatching(/^[a-z0-9-]{1,60}(\.[a-z0-9-]{1,60}){0,3}$/);
  fc.assert(
    fc.property(fc.oneof(name, fc.ipV6()), fc.integer({ min: 1, max: 65_535 }), (host, port) => {
      const head = connectHead({ host, port });
      assertEquals(parseConnectHead(head), { host, port });
      assert(head.length <= MAX_CONNECT_BYTES);
    }),
  );
});

Deno.test("parseConnectHead() refuses every other request, and two in one", () => {
  const good = "CONNECT a.example:443 HTTP/1.1\r\n\r\n";
  assertEquals(parseConnectHead(good), { host: "a.example", port: 443 });
  const bad = [
    "",
    "\r\n\r\n",
    `\r\n${good}`,
    ` ${good}`,
    good + good,
    `${good}GET / HTTP/1.1\r\n\r\n`,
    "CONNECT a.example:443 HTTP/1.1\n\n",
    "CONNECT a.example:443 HTTP/1.1\r\n",
    "CONNECT a.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\n",
    "CONNECT a.example:443 HTTP/1.0\r\n\r\n",
    "CONNECT a.example:443 HTTP/2\r\n\r\n",
    "connect a.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT  a.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example:443  HTTP/1.1\r\n\r\n",
    "CONNECT\ta.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example HTTP/1.1\r\n\r\n",
    "CONNECT a.example: HTTP/1.1\r\n\r\n",
    "CONNECT a.example:0 HTTP/1.1\r\n\r\n",
    "CONNECT a.example:0443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example:+443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example:65536 HTTP/1.1\r\n\r\n",
    "CONNECT a.example:443:80 HTTP/1.1\r\n\r\n",
    "CONNECT a.example:443,b.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example\r:443 HTTP/1.1\r\n\r\n",
    "CONNECT a.exa\r\nmple:443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example\0:443 HTTP/1.1\r\n\r\n",
    "CONNECT user@a.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT http://a.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT /a.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example/:443 HTTP/1.1\r\n\r\n",
    "CONNECT a%2eexample:443 HTTP/1.1\r\n\r\n",
    "CONNECT *:443 HTTP/1.1\r\n\r\n",
    "CONNECT [a.example]:443 HTTP/1.1\r\n\r\n",
    "CONNECT ::1:443 HTTP/1.1\r\n\r\n",
    "CONNECT [::1%lo]:443 HTTP/1.1\r\n\r\n",
    "CONNECT bücher.example:443 HTTP/1.1\r\n\r\n",
    `CONNECT ${"a".repeat(254)}:443 HTTP/1.1\r\n\r\n`,
    "GET http://a.example/ HTTP/1.1\r\n\r\n",
  ];
  for (const head of bad) assertEquals(parseConnectHead(head), undefined, JSON.stringify(head));
});

Deno.test("parseHostPort() gives back nothing but a name or an address and a port", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const read = parseHostPort(text);
      if (read === undefined) return;
      assert(/^[A-Za-z0-9_.:-]{1,253}$/.test(read.host));
      assert(read.port >= 1 && read.port <= 65_535);
    }),
  );
});

Deno.test("refusalHead() is one answer within the bound, whatever the reason", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 3_000 }), (reason) => {
      const answer = refusalHead(403, reason);
      const [head, ...rest] = answer.split("\r\n\r\n");
      const body = new TextEncoder().encode(rest.join("\r\n\r\n"));
      assertEquals(/Content-Length: (\d+)/.exec(head!)?.[1], String(body.length));
      assert(/^HTTP\/1\.1 403 Forbidden\r\n/.test(head!));
    }),
  );
  assert(new TextEncoder().encode(refusalHead(403, "x".repeat(5_000))).length <= MAX_ANSWER_BYTES);
});
