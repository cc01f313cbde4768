import { assertEquals } from "@std/assert";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { withoutSecrets } from "./without_secrets.ts";

Deno.test("withoutSecrets() takes the home's secrets out of an address, and leaves the rest", async () => {
  await using home = await tempHome();
  const data = {
    detail: "fake at https://gw.example/tok-0123456789/v1",
    count: 1,
    none: undefined,
  };
  assertEquals(withoutSecrets(data, home), data);
  const { operatorDir: dir, keysDir } = home.paths;
  const state = await openOperatorState({ dir, keysDir });
  await state.secrets.set({ name: "GW", value: "tok-0123456789" });
  await state.close();
  assertEquals(withoutSecrets(data, home), {
    ...data,
    detail: "fake at https://gw.example/[secret GW]/v1",
  });
});
