import { assertEquals } from "@std/assert";
import { lastTimeOfDay } from "./daily.ts";

const at = (day: number, hour: number, minute = 0) =>
  new Date(2030, 5, day, hour, minute).getTime();

Deno.test("lastTimeOfDay() is today's when it has come, else yesterday's", () => {
  assertEquals(lastTimeOfDay("03:30", at(2, 3, 30)), at(2, 3, 30));
  assertEquals(lastTimeOfDay("03:30", at(2, 23)), at(2, 3, 30));
  assertEquals(lastTimeOfDay("03:30", at(2, 3, 29)), at(1, 3, 30));
  assertEquals(lastTimeOfDay("00:00", at(2, 0)), at(2, 0));
  assertEquals(lastTimeOfDay("23:59", at(1, 0)), new Date(2030, 4, 31, 23, 59).getTime());
});
