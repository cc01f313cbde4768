/**
 * A server in a process of its own, so that its memory can be looked at: prints its port, then for each
 * line that it reads its counts and the memory that it has.
 *
 * @module
 */

import { openTestSocket } from "./test_socket.ts";

const test = await openTestSocket({
  maxMessageBytes: Number(Deno.args[0]),
  onConnection: (connection) => connection.onMessage(() => {}),
});
let peakBytes = 0;
const look = () => peakBytes = Math.max(peakBytes, Deno.memoryUsage().rss);
setInterval(look, 5);
const print = (value: unknown) =>
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
print(test.port);
for await (const _ of Deno.stdin.readable) {
  look();
  print({
    ...test.server.counts(),
    listener: test.listener.counts(),
    peakBytes,
  });
}
Deno.exit();
