import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { ManualClock } from "../http/testing/manual_clock.ts";
import { fingerprintsOf, newSalt } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { createWorkerLog, redirectConsole } from "./worker_log.ts";
import { CHANNEL_NEWS, type ChannelLine, LOG_RATE } from "./protocol.ts";
import { Rate } from "../base/rate.ts";

const SECRET = "hunter22";
const scrubber = createScrubber(
  fingerprintsOf({ name: `channels.${"x".repeat(100)}`, value: SECRET }, newSalt()),
);

function open(clock = new ManualClock(), limit = LOG_RATE) {
  const said: ChannelLine[] = [];
  const tell = (line: ChannelLine) => void said.push(structuredClone(line));
  return { said, log: createWorkerLog({ tell, rate: new Rate(limit, clock), scrubber }) };
}

Deno.test("createWorkerLog() says nothing that the service would not take, and no secret", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ maxLength: 20 }).map((text) => `${text}${SECRET}`.repeat(1_000)),
  );
  const fields = fc.oneof(
    fc.constant(undefined),
    fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), text, fc.constant(() => {}))),
    fc.array(fc.nat()),
  );
  fc.assert(fc.property(text, fields, (message, fields) => {
    const { said, log } = open();
    log.warning(message, fields as Record<string, unknown>);
    assertEquals(said.length, 1);
    CHANNEL_NEWS.log.data!(said[0]);
    assertEquals(JSON.stringify(said[0]).includes(SECRET), false);
  }));
});

Deno.test("createWorkerLog() leaves lines out that come too fast, and says how many", () => {
  const clock = new ManualClock();
  const { said, log } = open(clock, { perSecond: 1, burst: 2 });
  for (let at = 0; at < 10; at++) log.info(`${at}`);
  assertEquals(said.length, 2);
  clock.advance(1_000);
  log.error("after", { a: 1 });
  assertEquals(said[2], {
    level: "error",
    message: "after",
    data: { a: 1, lines_left_out: 8 },
  });
  clock.advance(1_000);
  log.error("later");
  assertEquals(said[3], { level: "error", message: "later", data: {} });
});

Deno.test("redirectConsole() lets what packages print go to the log, whatever it is", () => {
  const { said, log } = open();
  const printer = { ...console };
  redirectConsole(printer, log);
  printer.log("a", 1, { b: [2] });
  printer.error(new Error("bad"));
  printer.warn(Symbol("s"), null, undefined);
  printer.debug("not at all");
  assertEquals(said.length, 3);
  for (const line of said) CHANNEL_NEWS.log.data!(line);
  const [first, second, third] = said;
  assertEquals(first && [first.level, first.message], ["debug", "a 1 { b: [ 2 ] }"]);
  assert(second && second.level === "error" && second.message.includes("Error: bad"));
  assertEquals(third && [third.level, third.message], ["warning", "Symbol(s) null undefined"]);
});
