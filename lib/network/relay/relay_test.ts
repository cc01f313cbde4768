import { assert, assertEquals, assertMatch } from "@std/assert";
import { pair, readText, writeText } from "../testing/pair.ts";
import type { TunnelEnd } from "../tunnel.ts";
import { serveRelay } from "./relay.ts";

/** What the host behind the proxy is told and says. */
type Host = (conn: Deno.Conn) => Promise<void>;

async function readUntil(conn: Deno.Conn, end: string): Promise<string> {
  let said = "";
  const byte = new Uint8Array(1);
  while (!said.endsWith(end)) {
    if (await conn.read(byte) === null) break;
    said += String.fromCharCode(byte[0]!);
  }
  return said;
}

/** A listener with one connection. */
async function* once(conn: TunnelEnd): AsyncGenerator<TunnelEnd> {
  yield conn;
}

/** One connection of a program to a relay, whose proxy answers so. */
async function connect(
  host: Host,
  { answer = "HTTP/1.1 200 OK\r\n\r\n", direct = false } = {},
): Promise<{ client: Deno.Conn; asked: Promise<string> }> {
  const [client, taken] = await pair();
  const asked = Promise.withResolvers<string>();
  void serveRelay(once(taken), direct ? { host: "a.example", port: 5432 } : undefined, {
    async connect() {
      const [near, far] = await pair();
      void (async () => {
        asked.resolve(await readUntil(far, "\r\n\r\n"));
        await writeText(far, answer);
        if (answer.startsWith("HTTP/1.1 200")) await host(far);
        far.close();
      })();
      return near;
    },
  });
  return { client, asked: asked.promise };
}

Deno.test("serveRelay() tunnels what CONNECT asks for", async () => {
  const { client, asked } = await connect(async (conn) => {
    await writeText(conn, `told ${await readUntil(conn, "!")}`);
  });
  await writeText(client, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  assertEquals(await readUntil(client, "\r\n\r\n"), "HTTP/1.1 200 OK\r\n\r\n");
  assertEquals(await asked, "CONNECT a.example:443 HTTP/1.1\r\n\r\n");
  await writeText(client, "hello!");
  assertEquals(await readText(client), "told hello!");
  client.close();
});

Deno.test("serveRelay() sends one request of an absolute URL to its host, and nothing after it", async () => {
  for (
    const [length, body] of [
      ["Content-Length: 4\r\n", "body"],
      ["Transfer-Encoding: chunked\r\n", "4\r\nbody\r\n0\r\n\r\n"],
    ] as const
  ) {
    let told = "";
    const { client, asked } = await connect(async (conn) => {
      told = await readUntil(conn, body);
      await writeText(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    await writeText(client, `POST http://a.example/x HTTP/1.1\r\n${length}\r\n${body}`);
    assertEquals(await readText(client), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assertEquals(await asked, "CONNECT a.example:80 HTTP/1.1\r\n\r\n");
    assertEquals(
      told,
      `POST /x HTTP/1.1\r\nHost: a.example\r\n${length}Connection: close\r\n\r\n${body}`,
    );
    client.close();
  }
});

Deno.test("serveRelay() gives a second request on a connection to nobody", async () => {
  let told = "";
  const { client } = await connect(async (conn) => void (told = await readText(conn)));
  await writeText(
    client,
    "GET http://a.example/1 HTTP/1.1\r\n\r\nGET http://b.example/2 HTTP/1.1\r\n\r\n",
  );
  await readText(client).catch(() => {});
  assert(!told.includes("b.example"), told);
  client.close();
});

Deno.test("serveRelay() passes a refusal on with its reason", async () => {
  const answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nnot that\n";
  const never: Host = () => Promise.reject(new Error("not reached"));
  for (const line of ["CONNECT a.example:443", "GET http://a.example/"]) {
    const { client } = await connect(never, { answer });
    await writeText(client, `${line} HTTP/1.1\r\n\r\n`);
    assertEquals(await readText(client), answer);
    client.close();
  }
});

Deno.test("serveRelay() speaks for a host directly, and closes when that is refused", async () => {
  const { client, asked } = await connect((conn) => writeText(conn, "220 ready"), { direct: true });
  assertEquals(await readText(client), "220 ready");
  assertEquals(await asked, "CONNECT a.example:5432 HTTP/1.1\r\n\r\n");
  client.close();
  const refused = await connect(() => Promise.resolve(), {
    direct: true,
    answer: "HTTP/1.1 403 Forbidden\r\n\r\n",
  });
  assertEquals(await readText(refused.client), "");
  refused.client.close();
});

Deno.test("serveRelay() says when the proxy is gone or answers nothing", async () => {
  for (
    const connect of [
      () => Promise.reject(new Error("gone")),
      async () => {
        const [near, far] = await pair();
        far.close();
        return near;
      },
    ]
  ) {
    const [client, taken] = await pair();
    void serveRelay(once(taken), undefined, { connect });
    await writeText(client, "CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    assertMatch(await readText(client), /^HTTP\/1\.1 502 /);
    client.close();
  }
});

Deno.test("serveRelay() ends a program's connection that never says what it wants", async () => {
  const [client, taken] = await pair();
  const connect = () => Promise.reject(new Error("not asked"));
  void serveRelay(once(taken), undefined, { connect, headMs: 20 });
  await writeText(client, "CONN");
  assertEquals(await readText(client).catch(() => ""), "");
  client.close();
});
