import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { expandHome, MAX_SOCKET_BYTES, normalize, resolvePaths } from "./paths.ts";

function resolve(variables: Record<string, string> = {}, configFlag?: string) {
  return resolvePaths({
    configFlag,
    env: (name) => variables[name],
    homeDir: "/home/ann",
    cwd: () => "/work",
    uid: () => 1000,
  });
}

Deno.test("resolvePaths() puts everything under ~/.service when nothing is set", () => {
  assertEquals(resolve(), {
    userHome: "/home/ann",
    home: "/home/ann/.service",
    configFile: "/home/ann/.service/config.json",
    configFrom: "home",
    lastGoodFile: "/home/ann/.service/config.json.last-good",
    dataDir: "/home/ann/.service/data",
    database: "/home/ann/.service/data/service.db",
    mediaDir: "/home/ann/.service/data/media",
    auditDir: "/home/ann/.service/audit",
    keysDir: "/home/ann/.service/keys",
    operatorDir: "/home/ann/.service/operator",
    projectsFile: "/home/ann/.service/projects.json",
    mcpDir: "/home/ann/.service/mcp",
    runDir: "/home/ann/.service/run",
    lockFile: "/home/ann/.service/run/lock",
    socketDir: "/home/ann/.service/run",
    socket: "/home/ann/.service/run/service.sock",
    workspace: "/home/ann/.service/workspace",
  });
  assertEquals(resolve({ SERVICE_HOME: "", SERVICE_CONFIG: "" }), resolve());
});

Deno.test("resolvePaths() takes --config over SERVICE_CONFIG over SERVICE_HOME", () => {
  const all = { SERVICE_HOME: "~/other/", SERVICE_CONFIG: "conf//a.json" };
  const { home, configFile, configFrom } = resolve({ SERVICE_HOME: all.SERVICE_HOME });
  assertEquals([home, configFile, configFrom], [
    "/home/ann/other",
    "/home/ann/other/config.json",
    "home",
  ]);
  const byEnv = resolve(all);
  assertEquals([byEnv.configFile, byEnv.configFrom], ["/work/conf/a.json", "SERVICE_CONFIG"]);
  const byFlag = resolve(all, "../b.json");
  assertEquals([byFlag.configFile, byFlag.configFrom], ["/b.json", "--config"]);
  assertEquals(byFlag.lastGoodFile, "/b.json.last-good");
});

Deno.test("resolvePaths() moves the socket when its path would be too long", () => {
  const long = "/home/ann/" + "deep/".repeat(20);
  const runtime = { XDG_RUNTIME_DIR: "/run/user/1000" };
  const { socket, socketDir, lockFile } = resolve({ SERVICE_HOME: long, ...runtime });
  assertMatch(socket, /^\/run\/user\/1000\/service-[0-9a-f]{16}\/service\.sock$/);
  assertEquals(socket, `${socketDir}/service.sock`);
  assertEquals(lockFile, `${long}run/lock`);
  assertEquals(resolve({ SERVICE_HOME: long + "/.", ...runtime }).socket, socket);
  assertNotEquals(resolve({ SERVICE_HOME: long + "x", ...runtime }).socket, socket);
  const tmp = /^\/tmp\/service-[0-9a-f]{16}-1000\/service\.sock$/;
  assertMatch(resolve({ SERVICE_HOME: long }).socket, tmp);
  assertMatch(resolve({ SERVICE_HOME: long, XDG_RUNTIME_DIR: "/r/" + long }).socket, tmp);
});

Deno.test("resolvePaths() counts bytes, not letters, of the socket's path", () => {
  const home = "/h/" + "ü".repeat((MAX_SOCKET_BYTES - "/h//run/service.sock".length) / 2);
  assertEquals(resolve({ SERVICE_HOME: home }).socket, `${home}/run/service.sock`);
  assertMatch(resolve({ SERVICE_HOME: home + "ü" }).socket, /^\/tmp\//);
});

Deno.test("resolvePaths() gives a long home one socket through any symbolic link to it", async () => {
  const root = await Deno.makeTempDir();
  try {
    const real = `${root}/${"long/".repeat(20)}`;
    await Deno.mkdir(real, { recursive: true });
    await Deno.symlink(real, `${root}/${"l".repeat(60)}`);
    const byLink = resolve({ SERVICE_HOME: `${root}/${"l".repeat(60)}/new/home` });
    assertEquals(byLink.socket, resolve({ SERVICE_HOME: `${real}/new/home` }).socket);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("expandHome() replaces a leading tilde only", () => {
  assertEquals(expandHome("~", "/h"), "/h");
  assertEquals(expandHome("~/a", "/h"), "/h/a");
  assertEquals(expandHome("~bob/a", "/h"), "~bob/a");
  assertEquals(expandHome("/a/~", "/h"), "/a/~");
});

Deno.test("normalize() never climbs above the root", () => {
  assertEquals(normalize("/../../a/./b//../c/"), "/a/c");
  assertEquals(normalize("/"), "/");
});

Deno.test("normalize() takes both separators on Windows, and a backslash as a letter elsewhere", () => {
  assertEquals(normalize("C:\\Users\\a\\..\\b/c\\", "windows"), "C:/Users/b/c");
  assertEquals(normalize("/a\\b/../c", "linux"), "/c");
});
