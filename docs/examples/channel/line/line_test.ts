import { testChannel } from "@service/service/channel/testing";
import { LineServer } from "./line_server.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => Promise.resolve(new LineServer()),
  exempt: {
    long_texts: "a line takes a text of any length",
    long_code: "a line takes a text of any length",
  },
});
