import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs, programPath } from "../../tests/support/needs.ts";
import { systemdUnit, UNIT } from "./systemd_unit.ts";

/**
 * As `systemd-analyze security` counts, tenths; a unit without walls has more than 90. It takes a user's unit
 * for one of root, with all capabilities.
 */
const MOST_EXPOSED = { system: 32, user: 68 };

const DEFINITION = {
  program: ["/bin/sh"],
  env: { SERVICE_HOME: "/home/ada/.service" },
  writable: ["/home/ada/.service", "/srv/a folder"],
  drainTimeoutS: 30,
  logFile: "",
};

async function analyze(unit: string, ...args: string[]) {
  const dir = await Deno.makeTempDir();
  try {
    const file = `${dir}/${UNIT}`;
    await Deno.writeTextFile(file, unit);
    const { code, stdout, stderr } = await new Deno.Command(programPath("systemd-analyze"), {
      args: [...args, file],
      // A manager of a user looks for its own folders.
      env: { SYSTEMD_COLORS: "0", XDG_RUNTIME_DIR: dir, HOME: dir },
    }).output();
    const decoder = new TextDecoder();
    return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

for (const scope of ["user", "system"] as const) {
  Deno.test({
    ...needs(`systemd finds nothing wrong with the unit of the ${scope}`, "systemd-analyze"),
    async fn() {
      const unit = systemdUnit(DEFINITION, scope);
      const manager = scope === "user" ? ["--user"] : [];
      const verified = await analyze(unit, ...manager, "verify", "--man=no");
      // Keys of systemd 254, which older ones leave out.
      const lines = verified.text.trim().split("\n").filter((line) =>
        line.includes(UNIT) && !/'Restart(Steps|MaxDelaySec)'/.test(line)
      );
      assertEquals([verified.code, lines], [0, []]);
      const secure = await analyze(
        unit,
        ...["security", "--no-pager", "--offline=true", `--threshold=${MOST_EXPOSED[scope]}`],
      );
      assertEquals(secure.code, 0, secure.text);
    },
  });
}

Deno.test({
  ...needs("the threshold is one that a unit without walls doesn't pass", "systemd-analyze"),
  async fn() {
    const bare = "[Service]\nExecStart=/bin/sh\n";
    const { code } = await analyze(
      bare,
      ...["security", "--no-pager", "--offline=true", `--threshold=${MOST_EXPOSED.user}`],
    );
    assert(code !== 0);
  },
});

Deno.test("systemdUnit() quotes what systemd would take for something else", () => {
  const unit = systemdUnit({
    ...DEFINITION,
    program: ['/opt/a "b"/100% $HOME\\service'],
    env: { SERVICE_HOME: "/home/a b/%h" },
    writable: ["/srv/50% off"],
  }, "user");
  assertStringIncludes(
    unit,
    '\nExecStart="/opt/a \\"b\\"/100%% $$HOME\\\\service" gateway\n',
  );
  assertStringIncludes(unit, '100%% $$HOME\\\\service" reload\n');
  assertStringIncludes(unit, '\nEnvironment="SERVICE_HOME=/home/a b/%%h"\n');
  assertStringIncludes(unit, '\nReadWritePaths="-/srv/50%% off"\n');
});

Deno.test("systemdUnit() gives a stop longer than agent.drainTimeoutS", () => {
  const unit = systemdUnit({ ...DEFINITION, drainTimeoutS: 600 }, "user");
  assertStringIncludes(unit, "\nTimeoutStopSec=630\n");
});
