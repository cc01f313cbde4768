import { assertEquals, assertStringIncludes } from "@std/assert";
import { ACCEPT, KEY, openTestSocket, RawClient, UPGRADE } from "./testing/test_socket.ts";

const WITHOUT_KEY = UPGRADE.replace(/Sec-WebSocket-Key.*\r\n/, "");

/** A request, how it is refused, and a header of the refusal. */
const REFUSED: Record<string, [request: string, status: number, header?: string]> = {
  "another path": [`GET /other HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`, 404],
  "a path below": [`GET /ws/x HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`, 404],
  "a path in other letters": [`GET /WS HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`, 404],
  "POST": [`POST /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`, 405, "Allow: GET"],
  "POST with a body": [
    `POST /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}Content-Length: 5\r\n\r\nhello`,
    405,
  ],
  "HTTP/1.0": [`GET /ws HTTP/1.0\r\nHost: x\r\n${UPGRADE}\r\n`, 400],
  "no Host": [`GET /ws HTTP/1.1\r\n${UPGRADE}\r\n`, 400],
  "two Hosts": [`GET /ws HTTP/1.1\r\nHost: x\r\nHost: y\r\n${UPGRADE}\r\n`, 400],
  "no key": [`GET /ws HTTP/1.1\r\nHost: x\r\n${WITHOUT_KEY}\r\n`, 400],
  "an empty key": [`GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE.replace(KEY, "")}\r\n`, 400],
  "a key of 15 bytes": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE.replace(KEY, "AAAAAAAAAAAAAAAAAAAA")}\r\n`,
    400,
  ],
  "two keys": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}Sec-WebSocket-Key: ${KEY}\r\n\r\n`,
    400,
  ],
  "no version": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE.replace(/Sec-WebSocket-Version.*\r\n/, "")}\r\n`,
    426,
    "Sec-WebSocket-Version: 13",
  ],
  "version 8": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE.replace(": 13", ": 8")}\r\n`,
    426,
    "Sec-WebSocket-Version: 13",
  ],
  "version 13, 14": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE.replace(": 13", ": 13, 14")}\r\n`,
    426,
  ],
  "another upgrade beside it": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE.replace(": websocket", ": websocket, h2c")}\r\n`,
    400,
  ],
  "a body": [`GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}Content-Length: 5\r\n\r\nhello`, 400],
  "a body in chunks": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  "a subprotocol that is none": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}Sec-WebSocket-Protocol: a,,b\r\n\r\n`,
    400,
  ],
  "an extension that is none": [
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}Sec-WebSocket-Extensions: ;;\r\n\r\n`,
    400,
  ],
};

for (const [name, [request, status, header]] of Object.entries(REFUSED)) {
  Deno.test(`checkUpgrade() refuses ${name} with ${status} and a whole answer`, async () => {
    await using test = await openTestSocket({ path: "/ws/" });
    const client = await RawClient.open(test.port);
    client.write(request);
    const answer = await client.rest();
    assertStringIncludes(answer, `HTTP/1.1 ${status} `);
    assertStringIncludes(answer.toLowerCase(), "connection: close\r\n");
    if (header !== undefined) assertStringIncludes(answer, `${header}\r\n`);
    const [head, body] = answer.split("\r\n\r\n", 2) as [string, string];
    assertEquals(head.match(/content-length: (\d+)/i)?.[1], `${body.length}`);
    assertEquals(typeof JSON.parse(body).error.message, "string");
    assertEquals(test.server.counts(), { ...test.server.counts(), open: 0, admitting: 0 });
  });
}

Deno.test("checkUpgrade() takes the path with its slash, a query, and other letters in header values", async () => {
  await using test = await openTestSocket({ path: "/ws/" });
  const upgrade = UPGRADE.replace(": websocket", ": WebSocket").replace(": Upgrade", ": uPGRADE");
  for (const target of ["/ws", "/ws/", "/ws?token=x/y", "/ws/?", "http://x/ws"]) {
    const client = await RawClient.open(test.port);
    client.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`);
    const head = await client.head();
    assertStringIncludes(head, "HTTP/1.1 101 ");
    assertStringIncludes(head, `Sec-WebSocket-Accept: ${ACCEPT}`);
    client.socket.destroy();
  }
});

Deno.test("requests beside the upgrade, and upgrades to something else, reach the routes", async () => {
  await using test = await openTestSocket();
  const others = ["", "Upgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n"];
  for (const headers of others) {
    const client = await RawClient.open(test.port);
    client.write(`GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
    assertStringIncludes(await client.head(), "HTTP/1.1 404 ");
    client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assertStringIncludes(await client.rest(), "\r\n\r\nplain");
  }
});
