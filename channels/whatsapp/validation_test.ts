import { assertEquals } from "@std/assert";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";

Deno.test("whatsapp names each setting that is wrong, and refuses a server of this machine", async () => {
  const fields = async (values: Record<string, unknown>, allowLocal = true) => {
    const section = { login: "0123456789abcdef", ...values };
    const found = await checkSection({ descriptor: manifest }, section, { allowLocal });
    return found.map(({ level, field }) => `${level} ${field}`);
  };
  assertEquals(await fields({}), []);
  assertEquals(await fields({ phone: "+49 (170) 123-4567", clientVersion: "2.3000.1" }), []);
  assertEquals(await fields({ phone: "0170 1234567" }), ["error phone"]);
  assertEquals(
    await fields({ clientVersion: "3", serverKey: "x" }),
    ["error clientVersion", "error serverKey"],
  );
  const local = { url: "http://127.0.0.1:9/ws", serverKey: "0".repeat(64) };
  assertEquals(await fields(local), []);
  assertEquals(await fields(local, false), ["error url"]);
  assertEquals(await fields({ url: "nowhere" }), ["error url"]);
});
