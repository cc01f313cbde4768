import { assertEquals, assertStringIncludes } from "@std/assert";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { checkOperators } from "./check_operators.ts";

Deno.test("checkOperators() finds nothing wrong with a new home, makes nothing, and names damage", async () => {
  await using home = await tempHome();
  const { operatorDir: dir, keysDir } = home.paths;
  const whole = [{ status: "ok" as const, detail: "tokens, grants and blocks are intact" }];
  assertEquals(checkOperators(home.paths), whole);
  assertEquals([...Deno.readDirSync(home.paths.home)], []);
  const state = await openOperatorState({ dir, keysDir });
  await state.latches.set({ sessionKey: "api:a", capability: "exec", reason: "no" });
  await state.close();
  assertEquals(checkOperators(home.paths), whole);
  await Deno.remove(`${dir}/latches.json`);
  const [finding, ...more] = checkOperators(home.paths);
  assertEquals([finding?.status, more], ["fail", []]);
  assertStringIncludes(finding!.detail, `${dir}/latches.json`);
  assertStringIncludes(finding!.fix!, "service blocks reset");
});
