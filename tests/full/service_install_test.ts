/** `service install` and `uninstall`, with a systemctl of the test's own that starts what a unit says. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";

/** Keeps a list of what it was asked, and runs one service. */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >> "$HOME/asked"
unit=$HOME/.config/systemd/user/service.service
case "$*" in
  *SubState*) cat "$HOME/state" 2>/dev/null ;;
  *" restart "*)
    [ -e "$HOME/state" ] && exit
    eval "setsid $(sed -n 's/^ExecStart=//p' "$unit") > /dev/null 2> '$HOME/log' < /dev/null &"
    echo $! > "$HOME/pid"
    ;;
  *" disable "*)
    kill "$(cat "$HOME/pid")" && while kill -0 "$(cat "$HOME/pid")" 2>/dev/null; do sleep 0.05; done
    ;;
esac
exit 0
`;

async function makeUser() {
  const home = await makeHome({});
  await Deno.mkdir(`${home.dir}/bin`);
  await Deno.writeTextFile(`${home.dir}/bin/systemctl`, SYSTEMCTL, { mode: 0o755 });
  await Deno.writeTextFile(`${home.dir}/bin/loginctl`, "#!/bin/sh\necho no\n", { mode: 0o755 });
  const PATH = `${home.dir}/bin:${Deno.env.get("PATH")}`;
  const unit = `${home.dir}/.config/systemd/user/service.service`;
  return {
    home,
    unit,
    run: (args: string[], env: Record<string, string> = {}) =>
      home.run(args, { env: { PATH, ...env } }),
    asked: () => Deno.readTextFile(`${home.dir}/asked`).catch(() => ""),
    isThere: () => Deno.stat(unit).then(() => true, () => false),
    async [Symbol.asyncDispose]() {
      await home.run(["stop", "--force"]);
      await home[Symbol.asyncDispose]();
    },
  };
}

const NEEDS = ["Linux", "sh", "sed", "setsid", "sleep"] as const;

Deno.test({
  ...needs(
    "install has the service run by the manager of its user, and uninstall undoes it",
    ...NEEDS,
  ),
  async fn() {
    await using user = await makeUser();
    const { home, run } = user;
    const installed = await run(["install"], { OPENAI_API_KEY: "sk-in-the-shell" });
    assertEquals(installed.code, 0, installed.stderr);
    assertStringIncludes(installed.stderr, `Installed ${user.unit}`);
    assertMatch(installed.stderr, /OPENAI_API_KEY is set in this shell only\. .*environment\.d/);
    assertStringIncludes(installed.stderr, "It runs while you are logged in.");
    assertStringIncludes(installed.stdout, "The service is running");
    assertEquals((await run(["status"])).code, 0);
    const text = await Deno.readTextFile(user.unit);
    assertStringIncludes(text, `\nEnvironment=SERVICE_HOME=${home.dir}/home\n`);
    assertStringIncludes(text, `\nReadWritePaths=-${home.dir}/home\n`);
    assert(!text.includes("sk-in-the-shell"));

    const loginCheck = async () => {
      const { stdout } = await run(["doctor", "--offline", "--json"]);
      return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === "login")
        .status;
    };
    assertEquals(await loginCheck(), "ok");
    await Deno.mkdir(`${home.dir}/later`);
    const allowed = await run(["projects", "allow", `${home.dir}/later`]);
    assertStringIncludes(allowed.stderr, "can't write there yet. Let it with: service install");
    assertEquals(await loginCheck(), "warn");

    // Nothing tells here that the manager runs it, so it is somebody else's.
    const again = await run(["install"]);
    assertEquals(again.code, 1);
    assertStringIncludes(again.stderr, "Stop it first with: service stop");

    const removed = await run(["uninstall"]);
    assertEquals(removed.code, 0, removed.stderr);
    assertStringIncludes(removed.stderr, `Kept ${home.dir}/home`);
    assertEquals([await user.isThere(), (await run(["status"])).code], [false, 3]);
    assertStringIncludes((await run(["uninstall"])).stderr, "Nothing to remove");
    assert((await Deno.stat(`${home.dir}/home/config.json`)).isFile);
  },
});

Deno.test({
  ...needs(
    "install --dry-run prints what it would do; a failed start and a bad configuration say why",
    ...NEEDS,
  ),
  async fn() {
    await using user = await makeUser();
    const { home, run } = user;
    await home.configure({ agent: { workspace: `${home.dir}/work` } });
    await Deno.mkdir(`${home.dir}/project`);
    await run(["projects", "allow", `${home.dir}/project`]);
    const planned = await run(["install", "--dry-run"]);
    assertEquals(planned.code, 0, planned.stderr);
    assertMatch(planned.stdout, /^# Written by: service install\n\[Unit\]\n/);
    for (const folder of ["home", "work", "project"]) {
      assertStringIncludes(planned.stdout, `\nReadWritePaths=-${home.dir}/${folder}\n`);
    }
    assertStringIncludes(planned.stderr, "systemctl --user enable --quiet service.service");
    assertEquals([await user.isThere(), await user.asked()], [false, ""]);

    await Deno.writeTextFile(`${home.dir}/state`, "auto-restart\n");
    const failed = await run(["install"]);
    assertEquals(failed.code, 1);
    assertStringIncludes(
      failed.stderr,
      "The service doesn't start. See why with: journalctl --user-unit service.service",
    );

    await home.configure({ agent: { workspace: 7 } });
    const refused = await run(["install"]);
    assertEquals(refused.code, 3);
    assertStringIncludes(refused.stderr, "agent.workspace");

    await home.configure({});
    await Deno.writeTextFile(user.unit, "[Service]\n");
    for (const name of ["install", "uninstall"]) {
      const foreign = await run([name]);
      assertEquals(foreign.code, 1);
      assertStringIncludes(foreign.stderr, "wasn't written by service install");
    }
    const system = await run(["install", "--system"]);
    assertEquals(system.code, 2);
    assertStringIncludes(system.stderr, "--system needs a released program");
  },
});
