import { assertEquals, assertMatch } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { FILE_PROGRAMS, makeSmallFile, ownTarget } from "../../tests/support/small_file.ts";
import { EXECUTABLE, findInstallation, programOf } from "./installation.ts";
import { fileTypedAs } from "./typed_as.ts";

function found(
  {
    executable,
    real = executable,
    isBuilt = true,
    isStandalone = false,
    isReleased = false,
    execPath = "/opt/deno",
  }: {
    executable?: string;
    real?: string;
    isBuilt?: boolean;
    isStandalone?: boolean;
    isReleased?: boolean;
    execPath?: string;
  },
) {
  const { root: _, ...installation } = {
    root: "",
    ...findInstallation({
      isBuilt,
      isStandalone,
      isReleased,
      execPath,
      env: (name) => name === EXECUTABLE ? executable : undefined,
      realPath: (path) => real ?? path,
    }),
  };
  return installation;
}

Deno.test("findInstallation() tells sources, builds, releases and packages apart", () => {
  const file = "/home/ada/.local/bin/service";
  assertEquals(found({ isBuilt: false }), { kind: "source" });
  // A variable that somebody inherited makes no release of a checkout.
  assertEquals(found({ isBuilt: false, executable: file }), { kind: "source" });
  assertEquals(found({}), { kind: "built" });
  assertEquals(found({ isReleased: true }), { kind: "archive" });
  assertEquals(found({ executable: file }), { kind: "release", file });
  assertEquals(found({ executable: "/bin/s", real: file }), { kind: "release", file });
  assertEquals(found({ isStandalone: true, execPath: file }), { kind: "release", file });
  const local = "/usr/local/bin/service";
  assertEquals(found({ executable: local }), { kind: "release", file: local });
  const debian = "/usr/bin/service";
  assertEquals(found({ executable: debian }), { kind: "package", file: debian });
  // Homebrew's link outlives the version in it.
  const brew = "/opt/homebrew/bin/service";
  assertEquals(
    found({ executable: brew, real: "/opt/homebrew/Cellar/service/0.1.0/bin/service" }),
    { kind: "package", file: brew },
  );
});

Deno.test("fileTypedAs() is service where the PATH leads to the file first", () => {
  const typed = (file: string, PATH: string, os: "linux" | "windows" = "linux") =>
    fileTypedAs(file, {
      env: () => PATH,
      isProgram: (path) => [file, "/usr/sbin/service"].includes(path),
      realPath: (path) => path,
      os,
    });
  const file = "/home/ada/.local/bin/service";
  assertEquals(typed(file, "/home/ada/.local/bin:/usr/sbin"), "service");
  assertEquals(typed(file, "/usr/sbin:/home/ada/.local/bin"), file);
  assertEquals(typed(file, ""), file);
  assertEquals(typed("/home/a b/service", ""), "'/home/a b/service'");
  assertEquals(typed("C:\\a b\\s.exe", "", "windows"), '"C:\\a b\\s.exe"');
});

Deno.test("programOf() starts what the installation is", () => {
  assertEquals(programOf({ kind: "release", file: "/b/service" }), ["/b/service"]);
  const fromSource = programOf({ kind: "source", root: "/src" });
  assertEquals(fromSource[0], Deno.execPath());
  assertMatch(fromSource.join(" "), / run -q .* --lock=.* -P=service \/.*\.ts$/);
});

Deno.test({
  ...needs(
    "a released file takes the word of a unit or a container for how it is typed",
    ...FILE_PROGRAMS,
    { what: "a platform that files are made for", isThere: ownTarget() !== undefined },
  ),
  async fn() {
    const dir = await Deno.realPath(await Deno.makeTempDir());
    try {
      await makeSmallFile(`${dir}/service`);
      const typed = async (env: Record<string, string>) => {
        const { stdout } = await new Deno.Command(`${dir}/service`, {
          clearEnv: true,
          env: { HOME: dir, PATH: "/usr/bin:/bin", ...env },
        }).output();
        return JSON.parse(new TextDecoder().decode(stdout))[0];
      };
      assertEquals(await typed({}), `${dir}/service`);
      assertEquals(await typed({ PATH: `${dir}:/usr/bin:/bin` }), "service");
      const SERVICE_COMMAND = "docker exec -it service /usr/bin/service";
      assertEquals(await typed({ SERVICE_COMMAND }), SERVICE_COMMAND);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});
