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
});

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
