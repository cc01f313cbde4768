import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { FakeTelegram } from "./testing/fake_telegram.ts";

const folder = new URL("./", import.meta.url);

Deno.test("telegram works in a worker that may reach its server alone, also by another of its addresses", async () => {
  const openPlatform = async () => {
    const telegram = await FakeTelegram.open();
    const apiUrl = `${telegram.url.replace("127.0.0.1", "localhost")}/`;
    Object.defineProperty(telegram, "section", {
      value: { ...telegram.section, apiUrl, language: "zh" },
    });
    return telegram;
  };
  assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
});
