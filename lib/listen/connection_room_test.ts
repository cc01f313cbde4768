import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { connectionRoom } from "./connection_room.ts";

Deno.test("connectionRoom() gives what listeners can use where files are many or unbounded", () => {
  assertEquals(connectionRoom(), { api: 1_000, web: 10_000, backlog: 128 });
  assertEquals(connectionRoom(1_048_576), { api: 1_000, web: 10_000, backlog: 128 });
});

Deno.test("connectionRoom() gives all of it to a listener that is alone", () => {
  assertEquals(connectionRoom(1_024, { api: true, web: false }).api, 512);
  assertEquals(connectionRoom(1_024, { api: false, web: true }).web, 512);
  assertEquals(connectionRoom(4_096, { api: true, web: false }).api, 1_000);
});

Deno.test("connectionRoom() leaves 512 files for the rest, or half of them where they are few", () => {
  assertEquals(connectionRoom(4_096), { api: 716, web: 2_868, backlog: 128 });
  assertEquals(connectionRoom(1_024), { api: 102, web: 410, backlog: 128 });
  assertEquals(connectionRoom(300), { api: 30, web: 120, backlog: 37 });
  fc.assert(fc.property(fc.integer({ min: 4, max: 1_000_000 }), (files) => {
    const { api, web, backlog } = connectionRoom(files);
    assert(api >= 1 && web >= 1 && backlog >= 1);
    const rest = files - api - web;
    assert(rest >= Math.min(512, Math.floor(files / 2) - 1));
    assert(files < 8 || rest - 2 * backlog >= Math.floor(rest / 2));
  }));
});
