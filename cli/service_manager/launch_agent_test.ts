import { assertEquals, assertStringIncludes } from "@std/assert";
import { SaxesParser } from "saxes";
import { launchAgent } from "./launch_agent.ts";

Deno.test("launchAgent() is XML, whatever stands in a path", () => {
  const texts: string[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("text", (text) => void (text.trim() && texts.push(text.trim())));
  const program = "/Users/a & <b>/service";
  const agent = launchAgent({
    program: [program],
    env: { SERVICE_HOME: "/Users/a & b/home" },
    writable: [],
    drainTimeoutS: 30,
    logFile: "/Users/a & b/logs/service.log",
  });
  parser.write(agent).close();
  const after = (key: string) => texts[texts.indexOf(key) + 1];
  assertEquals(after("ProgramArguments"), program);
  assertEquals(after(program), "gateway");
  assertEquals(after("SERVICE_HOME"), "/Users/a & b/home");
  assertEquals(after("StandardErrorPath"), "/Users/a & b/logs/service.log");
  assertEquals(after("ExitTimeOut"), "60");
  assertStringIncludes(agent, "<key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>");
});
