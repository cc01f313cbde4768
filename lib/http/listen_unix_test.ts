import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { needs } from "../../tests/support/needs.ts";
import { ServiceError } from "../base/errors.ts";
import { listen, type Listener } from "../listen/listen.ts";

function open(socketPath: string): Promise<Listener> {
  return listen({
    host: "127.0.0.1",
    port: 0,
    socketPath,
    setting: "channels.websocket",
    handler: (_request, peer) => new Response(`peer ${peer}`),
    onUpgrade: (_request, socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
  });
}

async function ask(path: string, headers = ""): Promise<string> {
  using connection = await Deno.connect({ transport: "unix", path });
  const request = `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  await connection.write(
    new TextEncoder().encode(headers === "" ? request : `GET / HTTP/1.1\r\n${headers}\r\n`),
  );
  let text = "";
  const decoder = new TextDecoder();
  const bytes = new Uint8Array(4_096);
  for (;;) {
    const read = await connection.read(bytes);
    if (read === null) return text;
    text += decoder.decode(bytes.subarray(0, read));
  }
}

Deno.test({
  ...needs(
    "listen() on a Unix socket serves requests and upgrades, for its owner alone, and removes it",
    "Unix",
  ),
  async fn() {
    const path = join(await Deno.makeTempDir(), "web.sock");
    const before = Deno.umask(0);
    const listener = await open(path).finally(() => Deno.umask(before));
    assertEquals((await Deno.lstat(path)).mode! & 0o777, 0o600);
    assertEquals([listener.url, listener.port], [`http+unix:${path}:`, 0]);
    assertStringIncludes(await ask(path), "peer unix");
    const upgrade = "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    assertStringIncludes(await ask(path, upgrade), "HTTP/1.1 101 ");
    await listener.close();
    await assertRejects(() => Deno.lstat(path), Deno.errors.NotFound);
  },
});

Deno.test({
  ...needs("listen() on a Unix socket removes what a dead process left, and nothing else", "Unix"),
  async fn() {
    const dir = await Deno.makeTempDir();
    const path = join(dir, "web.sock");
    // Bound by a process that was killed.
    const code = `Deno.listen({ transport: "unix", path: ${JSON.stringify(path)} });` +
      `console.log("bound"); setInterval(() => {}, 1e6);`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", code],
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    await reader.read();
    const inUse = await assertRejects(() => open(path), ServiceError);
    assertStringIncludes(inUse.message, "another program listens there");
    assertEquals(inUse.details.param, "channels.websocket.socketPath");
    child.kill("SIGKILL");
    await reader.cancel();
    await child.status;
    const listener = await open(path);
    assertStringIncludes(await ask(path), "peer unix");
    const second = await assertRejects(() => open(path), ServiceError);
    assertStringIncludes(second.message, "another program listens there");
    await listener.close();

    await Deno.writeTextFile(path, "precious");
    const occupied = await assertRejects(() => open(path), ServiceError);
    assertStringIncludes(occupied.message, "no socket");
    assertEquals(await Deno.readTextFile(path), "precious");
  },
});

Deno.test({
  ...needs("listen() names a Unix socket that cannot be made", "Unix"),
  async fn() {
    const dir = await Deno.makeTempDir();
    for (const path of [join(dir, "none", "x.sock"), join(dir, "x".repeat(200))]) {
      const error = await assertRejects(() => open(path), ServiceError);
      assertEquals([error.code, error.details.param], [
        "config_invalid",
        "channels.websocket.socketPath",
      ]);
      assertStringIncludes(error.message, path);
    }
  },
});
