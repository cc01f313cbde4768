import { assert, assertEquals } from "@std/assert";
import { OutFrame } from "./out_frame.ts";
import { openClient, openTestSocket } from "./testing/test_socket.ts";

/** A frame whose JSON has so many bytes. */
function frameOf(bytes: number): OutFrame {
  const empty = JSON.stringify({ event: "error", detail: "" }).length;
  return new OutFrame({ event: "error", detail: "x".repeat(bytes - empty) });
}

Deno.test("OutFrame is encoded once, as a client reads it, at every size of its head", async () => {
  const frames = [29, 125, 126, 127, 65_535, 65_536, 1_000_000].map(frameOf);
  for (const text of ["🙂", "ä\u0000\u2028", "\ud800"]) {
    frames.push(new OutFrame({ event: "error", detail: text.repeat(100) }));
  }
  assert(frames.every((frame) => frame.wire === frame.wire));
  await using test = await openTestSocket({
    onConnection: (connection) => frames.forEach((frame) => connection.send(frame)),
  });
  for (const options of [{ perMessageDeflate: false }, { perMessageDeflate: true }]) {
    const client = await openClient(test.url, options);
    const received: unknown[] = [];
    await new Promise<void>((resolve) =>
      client.on("message", (data, isBinary) => {
        assertEquals(isBinary, false);
        received.push(JSON.parse(String(data)));
        if (received.length === frames.length) resolve();
      })
    );
    assertEquals(received, frames.map(({ frame }) => frame));
    client.terminate();
  }
});
