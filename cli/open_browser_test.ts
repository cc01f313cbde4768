import { assertEquals } from "@std/assert";
import { type BrowserHost, openApp } from "./open_browser.ts";
import { memoryOutput } from "./testing/memory_output.ts";

function open(
  os: BrowserHost["os"],
  env: Record<string, string>,
  { fails = false, wsUrl = "ws://127.0.0.1:8765/" } = {},
) {
  const { out, stderr } = memoryOutput();
  const started: (readonly string[])[] = [];
  openApp(wsUrl, out, {
    os,
    env: (name) => env[name],
    start(command, failed) {
      started.push(command);
      if (fails) failed();
    },
  });
  return [started, stderr.text];
}

const ADDRESS = "http://127.0.0.1:8765/";

Deno.test("openApp() starts what each system opens addresses with", () => {
  assertEquals(open("linux", { DISPLAY: ":0" }), [[["xdg-open", ADDRESS]], ""]);
  assertEquals(open("linux", { WAYLAND_DISPLAY: "wayland-0" }), [[["xdg-open", ADDRESS]], ""]);
  assertEquals(open("darwin", {}), [[["open", ADDRESS]], ""]);
  const [windows] = open("windows", {});
  assertEquals(windows, [["rundll32", "url.dll,FileProtocolHandler", ADDRESS]]);
});

Deno.test("openApp() says what to open where there is no display, or no browser", () => {
  const none = `No display here. Open in a browser: ${ADDRESS}\n`;
  assertEquals(open("linux", { DISPLAY: "" }), [[], none]);
  assertEquals(open("darwin", { SSH_CONNECTION: "1.2.3.4 5 6.7.8.9 22" }), [[], none]);
  const [started, why] = open("linux", { DISPLAY: ":0" }, { wsUrl: "ws+unix:/run/a.sock" });
  assertEquals([started, String(why).includes("no browser app")], [[], true]);
  const [, said] = open("linux", { DISPLAY: ":0" }, { fails: true });
  assertEquals(said, `Can't start xdg-open. Open in a browser: ${ADDRESS}\n`);
});
