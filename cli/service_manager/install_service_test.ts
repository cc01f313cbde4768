import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { checkManager, type Ended, startInstalled, uninstallService } from "./install_service.ts";
import { serviceManager } from "./service_manager.ts";

const DEFINITION = {
  program: ["/home/ada/.local/bin/service"],
  env: {},
  writable: [],
  drainTimeoutS: 30,
  logFile: "",
};

/** A manager in a folder, and what it was asked. */
async function makeManager(os: "linux" | "darwin" = "linux") {
  const dir = await Deno.makeTempDir();
  const asked: string[] = [];
  let failing: string | undefined;
  const manager = serviceManager({
    scope: "user",
    os,
    uid: 501,
    env: () => undefined,
    userHome: dir,
  });
  return {
    dir,
    manager,
    asked,
    text: manager.define(DEFINITION),
    fail: (command: string) => failing = command,
    run(command: readonly string[]): Promise<Ended> {
      const line = command.join(" ");
      asked.push(line);
      return Promise.resolve(
        failing !== undefined && line.includes(failing)
          ? { success: false, stdout: "", stderr: "Failed to connect to bus: No medium found\n" }
          : { success: true, stdout: "", stderr: "" },
      );
    },
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  };
}

Deno.test("startInstalled() writes the unit and starts it; uninstallService() undoes both", async () => {
  await using world = await makeManager();
  const { manager, text, asked, dir } = world;
  await startInstalled(manager, text, world.run);
  assertEquals(manager.file, `${dir}/.config/systemd/user/service.service`);
  assertEquals(await Deno.readTextFile(manager.file), text);
  const start = [
    "systemctl --user daemon-reload",
    "systemctl --user enable --quiet service.service",
    "systemctl --user restart service.service",
  ];
  const stop = "systemctl --user disable --quiet --now service.service";
  assertEquals(asked.splice(0), start);
  await startInstalled(manager, text, world.run);
  assertEquals(asked.splice(0), [stop, ...start]);
  assertEquals(await uninstallService(manager, world.run), true);
  assertEquals(asked.splice(0), [stop, "systemctl --user daemon-reload"]);
  assertEquals(await uninstallService(manager, world.run), false);
  assertEquals(asked, []);
});

Deno.test("a unit that somebody else wrote is neither replaced nor removed", async () => {
  await using world = await makeManager();
  const { manager, text } = world;
  await Deno.mkdir(manager.file.replace(/\/[^/]*$/, ""), { recursive: true });
  await Deno.writeTextFile(manager.file, "[Service]\nExecStart=/bin/true\n");
  for (
    const what of [
      () => startInstalled(manager, text, world.run),
      () => uninstallService(manager, world.run),
    ]
  ) {
    const error = await assertRejects(what, ServiceError);
    assertStringIncludes(error.message, "wasn't written by service install");
  }
  // A unit that is masked is a link.
  await Deno.remove(manager.file);
  await Deno.symlink("/dev/null", manager.file);
  await assertRejects(() => startInstalled(manager, text, world.run), ServiceError);
  assertEquals(world.asked, []);
  assertEquals(await Deno.readLink(manager.file), "/dev/null");
});

Deno.test("a manager that can't be reached is said before anything is written", async () => {
  await using world = await makeManager();
  world.fail("show");
  const error = await assertRejects(() => checkManager(world.manager, world.run), ServiceError);
  assertStringIncludes(error.message, "Failed to connect to bus: No medium found. Log in as");
  world.fail("enable");
  const failed = await assertRejects(
    () => startInstalled(world.manager, world.text, world.run),
    ServiceError,
    "systemctl --user enable --quiet service.service failed: Failed to connect to bus",
  );
  assertEquals(failed.code, "conflict");
});

Deno.test("an agent of launchd is loaded and unloaded", async () => {
  await using world = await makeManager("darwin");
  const { manager, text, asked, dir } = world;
  await startInstalled(manager, text, world.run);
  const file = `${dir}/Library/LaunchAgents/service.gateway.plist`;
  assertEquals(manager.file, file);
  assertEquals(asked.splice(0), [`launchctl bootstrap gui/501 ${file}`]);
  assertEquals(await uninstallService(manager, world.run), true);
  assertEquals(asked, ["launchctl bootout gui/501/service.gateway"]);
});

Deno.test("serviceManager() says what to do where there is none", () => {
  const words = (os: typeof Deno.build.os, scope: "user" | "system" = "user") => {
    try {
      serviceManager({ scope, os, uid: 0, env: () => undefined, userHome: "/" });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assertStringIncludes(words("windows"), "shell:startup");
  assertStringIncludes(words("darwin", "system"), "service install");
  assertStringIncludes(words("freebsd"), "service gateway");
  assertEquals([words("linux"), words("linux", "system"), words("darwin")], ["", "", ""]);
});
