import { assertEquals, assertStringIncludes } from "@std/assert";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { checkSecrets } from "./check_secrets.ts";
import { checkOperators } from "./check_operators.ts";

Deno.test("checkSecrets() opens each secret, shows none, and says what to do about a key that is gone", async () => {
  await using home = await tempHome();
  assertEquals(checkSecrets(home), { status: "ok", detail: "no secrets" });
  assertEquals([...Deno.readDirSync(home.paths.home)], []);
  const { operatorDir: dir, keysDir } = home.paths;
  const state = await openOperatorState({ dir, keysDir });
  await state.secrets.set({ name: "A", value: "hunter2hunter2" });
  assertEquals(checkSecrets(home).detail, "1 secret, readable with the key");
  await state.secrets.set({ name: "B", value: "hunter3hunter3" });
  await state.close();
  assertEquals(checkSecrets(home), { status: "ok", detail: "2 secrets, readable with the key" });

  const other = (name: string) => name === "SERVICE_SECRETS_KEY" ? btoa("x".repeat(32)) : undefined;
  assertStringIncludes(checkSecrets({ ...home, env: other }).detail, "with another key");
  await Deno.remove(`${keysDir}/secrets.key`);
  const { status, detail, fix } = checkSecrets(home);
  assertEquals(status, "fail");
  assertStringIncludes(detail, `${keysDir}/secrets.key`);
  assertStringIncludes(fix!, "service secrets reset");
  assertEquals(checkOperators(home.paths)[0]!.status, "ok");
});
