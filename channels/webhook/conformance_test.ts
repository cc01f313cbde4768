import { testChannel } from "../../lib/channel/testing/mod.ts";
import { TestPlatform } from "./testing/test_platform.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => TestPlatform.open(),
  exempt: {
    bots: "every caller is a program, and nothing tells which of them writes for a person",
    long_texts: "a request takes a text of any length",
    long_code: "a request takes a text of any length",
  },
});
