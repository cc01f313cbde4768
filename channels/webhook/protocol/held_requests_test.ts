import { assert, assertEquals } from "@std/assert";
import { HeldRequests, MAX_HELD, MAX_HELD_PER_CHAT } from "./held_requests.ts";

function letGo(held: ReturnType<HeldRequests["hold"]>): () => void {
  assert(typeof held === "function", JSON.stringify(held));
  return held;
}

Deno.test("HeldRequests.hold() leaves room for other chats, and always a connection to say no on", () => {
  const requests = new HeldRequests();
  const refused = (chat: string) => {
    const held = requests.hold(chat);
    return typeof held === "function" ? undefined : held.status;
  };
  const flood = Array.from({ length: MAX_HELD_PER_CHAT }, () => letGo(requests.hold("flood")));
  assertEquals(refused("flood"), 429);
  const others = Array.from(
    { length: MAX_HELD - MAX_HELD_PER_CHAT },
    (_, at) => letGo(requests.hold(`chat ${at}`)),
  );
  assertEquals(refused("one more"), 503);
  assertEquals(refused("flood"), 429);
  flood.pop()!();
  letGo(requests.hold("flood"))();
  for (const one of [...flood, ...others]) one();
  for (let at = 0; at < MAX_HELD_PER_CHAT; at++) letGo(requests.hold("flood"));
});
