import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { StorageRoom } from "./storage_room.ts";

Deno.test("StorageRoom.check() refuses while there is no room", () => {
  const room = new StorageRoom();
  room.check();
  room.update({ ok: false });
  const error = assertThrows(() => room.check(), ServiceError, "nothing was stored");
  assertEquals(error.code, "storage_full");
  room.update({ ok: true });
  room.check();
});

Deno.test("StorageRoom.free() waits until there is room, or for the signal", async () => {
  const room = new StorageRoom();
  const stop = new AbortController();
  await room.free(stop.signal);
  room.update({ ok: false });
  let free = false;
  const waiting = room.free(stop.signal).then(() => free = true);
  const aborted = new AbortController();
  const givenUp = assertRejects(() => room.free(aborted.signal), Error, "gone");
  aborted.abort(new Error("gone"));
  await givenUp;
  room.update({ ok: false });
  await Promise.resolve();
  assertEquals(free, false);
  room.update({ ok: true });
  await waiting;
});
