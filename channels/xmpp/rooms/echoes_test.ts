import { assertEquals } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { Echoes } from "./echoes.ts";

Deno.test("Echoes tells of a message that has come back, and of none by the passing of time or an end", async () => {
  const clock = fakeClock();
  const echoes = new Echoes(clock);
  const told: string[] = [];
  const [one, other] = [echoes.of("1"), echoes.of("2")];
  void one.came.then(() => told.push("one"));
  void other.came.then(() => told.push("other"));
  clock.tick(60_000);
  echoes.take("1");
  echoes.take("unknown");
  await one.came;
  const late = other.within(5_000);
  clock.tick(5_000);
  await late;
  echoes.close();
  echoes.take("2");
  await Promise.resolve();
  assertEquals(told, ["one"]);
});
