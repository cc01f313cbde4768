import { assertEquals, assertStringIncludes } from "@std/assert";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Files whose tests need programs that are not everywhere, each another one. */
const FILES = [
  "channels/irc/ngircd_test.ts",
  "channels/xmpp/connection_test.ts",
  "cli/completions/completions_test.ts",
  "lib/http/listen_tls_test.ts",
  "tests/full/websocket_nginx_test.ts",
];

Deno.test("the gate passes where no program is on the PATH, and lists what was skipped for that", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const env = Object.fromEntries(
      ["HOME", "DENO_DIR", "XDG_CACHE_HOME"].flatMap((name) => {
        const value = Deno.env.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-q", "-A", "--cached-only", "--lock=deno.lock", "--frozen"],
        ...["tests/run.ts", ...FILES],
      ],
      cwd: ROOT,
      clearEnv: true,
      env: { ...env, PATH: folder, NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder();
    const printed = text.decode(stdout);
    assertEquals(code, 0, printed + text.decode(stderr));
    for (const [program, debian] of Object.entries({ ngircd: "ngircd", nginx: "nginx-light" })) {
      assertStringIncludes(printed, `${program} is missing: `);
      assertStringIncludes(printed, `Install it: apt-get install ${debian}\n`);
    }
    assertEquals(/^(\d+) passed, 0 failed, (\d+) skipped$/m.test(printed), true, printed);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
