/**
 * Opens an address in the browser of whoever sits here.
 *
 * @module
 */

import type { OptionSpec } from "./command.ts";
import type { Output } from "./output.ts";

/** Of commands that start the service. */
export const OPEN: OptionSpec = {
  name: "open",
  summary: "Open the browser app; without a display, print its address",
};

/** What a browser and its desktop need; keys of models stay here. */
const ENV =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|BROWSER|DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS|XDG_\w+|DESKTOP_SESSION|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE|TEMP|TMP)$/i;

/** What opening needs of this machine. */
export interface BrowserHost {
  os: typeof Deno.build.os;
  env(name: string): string | undefined;
  /** Starts a program that stays; `failed` is called when it can't be. */
  start(command: readonly string[], failed: () => void): void | Promise<void>;
}

/** Of the browser app, by that of the WebSocket port; undefined where no browser reaches it. */
export function appAddress(wsUrl: string | undefined): string | undefined {
  if (wsUrl === undefined || wsUrl.includes("unix:")) return undefined;
  return new URL("/", wsUrl.replace(/^ws/, "http")).href;
}

/** Opens the browser app, or says what to open. Never fails: the service runs all the same. */
export function openApp(
  wsUrl: string | undefined,
  out: Pick<Output, "note">,
  host: BrowserHost = thisHost,
): void {
  const address = appAddress(wsUrl);
  if (address === undefined) {
    return out.note("There is no browser app to open: no browser reaches the WebSocket port");
  }
  const command = browserCommand(host);
  if (command === undefined) return out.note(`No display here. Open in a browser: ${address}`);
  void host.start(
    [...command, address],
    () => out.note(`Can't start ${command[0]}. Open in a browser: ${address}`),
  );
}

/** Undefined where there is no screen to show a browser on. */
function browserCommand({ os, env }: BrowserHost): string[] | undefined {
  const isSet = (name: string) => (env(name) ?? "") !== "";
  switch (os) {
    case "windows":
      return ["rundll32", "url.dll,FileProtocolHandler"];
    case "darwin":
      return isSet("SSH_CONNECTION") ? undefined : ["open"];
    default:
      return isSet("DISPLAY") || isSet("WAYLAND_DISPLAY") ? ["xdg-open"] : undefined;
  }
}

const thisHost: BrowserHost = {
  os: Deno.build.os,
  env: (name) => Deno.env.get(name),
  async start([program, ...args], failed) {
    const { spawn } = await import("node:child_process");
    const env = Object.entries(Deno.env.toObject()).filter(([name]) => ENV.test(name));
    // In a session of its own: Ctrl-C ends the service, and not the browser.
    const child = spawn(program!, args, {
      detached: true,
      stdio: "ignore",
      env: Object.fromEntries(env),
    });
    child.on("error", failed);
    child.on("exit", (code) => code !== 0 && code !== null && failed());
    // There is none to let go of where it couldn't be started.
    if (child.pid !== undefined) child.unref();
  },
};
