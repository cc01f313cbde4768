import { assertEquals } from "@std/assert";
import { Memory } from "./memory.ts";

Deno.test("Memory keeps things over restarts, of each kind the newest", async () => {
  const stateDir = await Deno.makeTempDir();
  const first = new Memory(stateDir, 3);
  for (let at = 0; at < 5; at++) first.set("approval", String(at), { message: at });
  first.set("approval", "2", { message: "again" });
  first.set("other", "0", "kept");
  // Never closed, as after a kill.
  const second = new Memory(stateDir, 3);
  const all = ["0", "1", "2", "3", "4"].map((name) => second.get("approval", name));
  assertEquals(all, [undefined, undefined, { message: "again" }, { message: 3 }, { message: 4 }]);
  assertEquals(second.get("other", "0"), "kept");
  second.delete("other", "0");
  assertEquals(second.get("other", "0"), undefined);
  first.close();
  second.close();
  await Deno.remove(stateDir, { recursive: true });
});
