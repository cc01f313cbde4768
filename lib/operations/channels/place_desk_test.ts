import { assert, assertEquals, assertRejects } from "@std/assert";
import type { PlaceTold } from "../../place/place_bridge.ts";
import { PlaceDoor } from "../../place/place_door.ts";
import type { OpenedPlace } from "../../place/open_place.ts";
import { ServiceError } from "../../base/errors.ts";
import { PlaceDesk } from "./place_desk.ts";
import { PlaceFixture } from "./testing/place_fixture.ts";

interface Opening {
  runtimeName: string;
  answer: PromiseWithResolvers<OpenedPlace>;
}

function connect() {
  const openings: Opening[] = [];
  const told: PlaceTold[] = [];
  const lines: string[] = [];
  const desk: PlaceDesk = new PlaceDesk({
    places: {
      open(runtimeName) {
        const answer = Promise.withResolvers<OpenedPlace>();
        openings.push({ runtimeName, answer });
        return answer.promise;
      },
    },
    send(message) {
      told.push(message);
      door.receive(message);
    },
    scrub: (text) => text.replaceAll("a-secret-token", "[secret]"),
    log: { error: (message) => void lines.push(message) },
  });
  const door = new PlaceDoor((message) => desk.receive(message));
  return { desk, door, openings, told, lines };
}

function place() {
  const ended = Promise.withResolvers<string>();
  const streams = new TransformStream<Uint8Array, Uint8Array>();
  const made = { closed: 0, end: ended.resolve };
  const opened: OpenedPlace = {
    streams,
    ended: ended.promise,
    close() {
      made.closed += 1;
    },
  };
  return Object.assign(made, { opened });
}

const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

Deno.test("PlaceDoor.open() gives a place of the desk, which closing ends once", async () => {
  const { door, openings } = connect();
  const opening = door.open("irc");
  const made = place();
  openings[0]!.answer.resolve(made.opened);
  const { streams, close } = await opening;
  assertEquals(openings[0]!.runtimeName, "irc");
  assertEquals(streams, made.opened.streams);
  close();
  close();
  assertEquals(made.closed, 1);
});

Deno.test("PlaceDoor hears why a place has ended, and of nothing after it was closed", async () => {
  const { door, openings, told } = connect();
  const first = place();
  const opening = door.open("irc");
  openings[0]!.answer.resolve(first.opened);
  const opened = await opening;
  first.end("it threw: no");
  assertEquals(await opened.ended, "it threw: no");
  opened.close();
  assertEquals(first.closed, 0);

  const second = place();
  const again = door.open("irc");
  openings[1]!.answer.resolve(second.opened);
  (await again).close();
  assertEquals(second.closed, 1);
  second.end("late");
  await settle();
  assertEquals(told.map(({ type }) => type), ["place_opened", "place_ended", "place_opened"]);
});

Deno.test("PlaceDoor.open() rejects with the desk's error, without secrets", async () => {
  const { door, openings, lines } = connect();
  const refused = door.open("irc");
  openings[0]!.answer.reject(new ServiceError("not_enabled", "irc is off", { param: "channel" }));
  const error = await assertRejects(() => refused, ServiceError, "irc is off");
  assertEquals([error.code, error.details.param], ["not_enabled", "channel"]);
  const broken = door.open("irc");
  openings[1]!.answer.reject(new Error("a-secret-token broke"));
  await assertRejects(() => broken, ServiceError, "[secret] broke");
  assertEquals(lines, ["A place could not be opened"]);
});

Deno.test("a place that comes after its door was closed is closed", async () => {
  const { door, openings } = connect();
  const opening = assertRejects(() => door.open("irc"), ServiceError, "stopping");
  door.close();
  await opening;
  const late = place();
  openings[0]!.answer.resolve(late.opened);
  await settle();
  assertEquals(late.closed, 1);
  await assertRejects(() => door.open("irc"), ServiceError, "stopping");
});

Deno.test("PlaceDesk closes all when the service is gone, and those that come later", async () => {
  const { desk, door, openings } = connect();
  const [open, late] = [place(), place()];
  const opening = door.open("a");
  openings[0]!.answer.resolve(open.opened);
  await opening;
  void door.open("b").catch(() => {});
  desk.close();
  openings[1]!.answer.resolve(late.opened);
  await settle();
  assertEquals([open.closed, late.closed], [1, 1]);
});

Deno.test("PlaceDesk opens only so many, and none under a number that is taken", async () => {
  const { desk, told, openings } = connect();
  for (let id = 1_001; id <= 1_300; id++) {
    desk.receive({ type: "open_place", id, runtimeName: "a" });
  }
  desk.receive({ type: "open_place", id: 1_001, runtimeName: "a" });
  await settle();
  assertEquals(openings.length, 256);
  assertEquals(told.length, 45);
  const first = told[0]!;
  assert(first.type === "place_opened" && "error" in first.result);
  assertEquals(first.result.error.code, "overloaded");
  desk.receive({ type: "close_place", id: 77 });
});

Deno.test("a place goes through to the Worker that asked for the place, with what it says", async () => {
  const fixture = await PlaceFixture.open();
  fixture.source();
  const worker = new Worker(
    new URL("../../place/testing/asking_worker.ts", import.meta.url).href,
    { type: "module", deno: { permissions: "none" } } as WorkerOptions,
  );
  try {
    const desk = new PlaceDesk({
      places: fixture.places,
      send: (message, transfer) => worker.postMessage(message, transfer),
      scrub: (text) => text,
      log: fixture.log,
    });
    const seen = Promise.withResolvers<unknown>();
    worker.onmessage = ({ data }) =>
      data.type === "seen" ? seen.resolve(data.seen) : desk.receive(data);
    worker.onerror = (event) => seen.reject(new Error(event.message));
    assertEquals(await seen.promise, {
      running: true,
      published: '{"kind":"turn","turnId":"hello","repeated":false}',
      lost: "it called exit(3)",
      refused: "nobody knows other",
    });
  } finally {
    worker.terminate();
    await fixture.close();
  }
});
