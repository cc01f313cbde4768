import { assertEquals, assertRejects } from "@std/assert";
import { SendSteps } from "./send_steps.ts";

Deno.test("run() takes no step again that was taken before one that failed", async () => {
  const taken: string[] = [];
  let isAway = true;
  const sends = new SendSteps<number>();
  const steps = ["a", "b", "c"].map((name) => () => {
    if (name === "b" && isAway) return Promise.reject(new Error("away"));
    return Promise.resolve(taken.push(name));
  });
  await assertRejects(() => sends.run("1", steps), Error, "away");
  await assertRejects(() => sends.run("1", steps), Error, "away");
  assertEquals(taken, ["a"]);
  isAway = false;
  assertEquals(await sends.run("2", steps), [2, 3, 4]);
  assertEquals(await sends.run("1", steps), [1, 5, 6]);
  assertEquals(taken, ["a", "a", "b", "c", "b", "c"]);
});

Deno.test("run() begins anew with a message that was sent whole", async () => {
  let taken = 0;
  const sends = new SendSteps<number>();
  for (let times = 1; times <= 2; times++) {
    assertEquals(await sends.run("1", [() => Promise.resolve(taken += 1)]), [times]);
  }
});
