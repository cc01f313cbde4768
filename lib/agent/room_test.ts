import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { inputChars, Room } from "./room.ts";

Deno.test("Room.take() holds no more than there is, and all of it comes back", () => {
  const steps = fc.array(fc.record({ chars: fc.nat(60), leave: fc.nat(5) }), { maxLength: 50 });
  fc.assert(fc.property(steps, (all) => {
    const room = new Room(100);
    const shares: { chars: number; leave: () => void }[] = [];
    const held = () => shares.reduce((sum, { chars }) => sum + chars, 0);
    for (const { chars, leave } of all) {
      const taken = room.take(chars);
      assertEquals(taken !== undefined, held() + chars <= 100);
      if (taken !== undefined) shares.push({ chars, leave: taken });
      const [left] = shares.splice(leave, 1);
      left?.leave();
      left?.leave();
      assertEquals(room.chars, held());
    }
    for (const { leave } of shares) leave();
    assertEquals(room.chars, 0);
  }));
});

Deno.test("Room.take() leaves room for what people type, however much the large shares want", () => {
  const large = 100_000;
  const room = new Room(4 * large);
  for (let n = 0; n < 3; n++) assert(room.take(large));
  assertEquals(room.take(large), undefined);
  assert(room.take(60_000));
  assert(room.take(large, { always: true }));
  assertEquals(room.take(1), undefined);
});

Deno.test("inputChars() counts text, the text of documents, and images as base64", () => {
  const file = { sha256: "0".repeat(64), bytes: 30 };
  assertEquals(inputChars([]), 0);
  assertEquals(
    inputChars([
      { type: "text", text: "four" },
      { type: "document", name: "a", mediaType: "text/plain", file, text: "seven.." },
      { type: "image", mediaType: "image/png", file },
      { type: "image", mediaType: "image/png", data: "base64" },
    ]),
    4 + 7 + 40 + 6,
  );
  const bytes = new Uint8Array(30);
  assertEquals(inputChars([{ type: "image", mediaType: "image/png", bytes }]), 40);
});

Deno.test("Room.freed() resolves with the next share that is given back, or rejects with the signal", async () => {
  const room = new Room(10);
  const leave = room.take(10)!;
  const gone = new AbortController();
  const [first, second] = [
    room.freed(new AbortController().signal),
    room.freed(gone.signal),
  ];
  gone.abort(new Error("gone"));
  await assertRejects(() => second, Error, "gone");
  await assertRejects(() => room.freed(gone.signal), Error, "gone");
  leave();
  await first;
});
