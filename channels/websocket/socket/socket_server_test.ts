import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { closeOf, messageOf, openClient, openTestSocket } from "./testing/test_socket.ts";

Deno.test("createSocketServer() lets a client in, hears it and answers", async () => {
  await using test = await openTestSocket();
  const client = await openClient(test.url);
  client.send("hällo 🙂");
  assertEquals(await messageOf(client), { event: "error", detail: "hällo 🙂" });
  client.send(new Uint8Array([1, 2, 255]));
  assertEquals((await messageOf(client)).detail, "binary 1 2 255");
  const [connection] = test.connections;
  assertEquals(connection!.peerAddress, "127.0.0.1");
  const closed = closeOf(client);
  client.close(1000, "bye");
  assertEquals(await closed, { code: 1000, reason: "bye" });
});
