import { assertEquals } from "@std/assert";
import { NO_ENDPOINT } from "./endpoint.ts";
import { Peer, plainErrors } from "./peer.ts";
import { portTransport } from "./port_transport.ts";
import { streamTransport } from "./stream_transport.ts";
import { peerKit } from "./testing/peer_kit.ts";

peerKit("a message port", () => {
  const { port1, port2 } = new MessageChannel();
  return Promise.resolve({
    a: portTransport(port1),
    b: portTransport(port2),
    close: () => Promise.resolve(),
  });
});

peerKit("pipes", () => {
  // Each direction is a pipe into another process and one out of it.
  const [there, back] = [1, 2].map(() =>
    new Deno.Command("cat", { stdin: "piped", stdout: "piped" }).spawn()
  );
  return Promise.resolve({
    a: streamTransport({ readable: back!.stdout, writable: there!.stdin }),
    b: streamTransport({ readable: there!.stdout, writable: back!.stdin }),
    close: async () => void await Promise.all([there!.status, back!.status]),
  });
}, "cat");

peerKit("a Unix socket", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/socket`;
  using listener = Deno.listen({ transport: "unix", path });
  const [a, b] = await Promise.all([Deno.connect({ transport: "unix", path }), listener.accept()]);
  return {
    a: streamTransport(a),
    b: streamTransport(b),
    close: () => Deno.remove(folder, { recursive: true }),
  };
});

Deno.test("Peer ends an end that says bytes that are none", async () => {
  let say = (_frame: unknown) => {};
  const peer = new Peer({
    transport: { open: (take) => say = take, send() {}, close() {} },
    mine: NO_ENDPOINT,
    theirs: NO_ENDPOINT,
    handlers: { calls: {}, notices: {} },
    errors: plainErrors(100),
  });
  say({ type: "call", id: 1, method: "x", bytes: [1] });
  assertEquals((await peer.ended).reason, "it said bytes that are none");
});
