import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { writeFileAtomic } from "../base/atomic_write.ts";
import { saveConfig } from "./save.ts";
import { tempHome } from "./testing/temp_home.ts";

const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o777;
const names = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name).sort();

Deno.test("saveConfig() makes a new file with mode 0600, and its folder", async () => {
  await using home = await tempHome({ SERVICE_CONFIG: "deep/er/config.json" });
  await saveConfig({ ...home, before: undefined, value: { api: { port: 1 } } });
  assertEquals(await home.read(), '{\n  "api": {\n    "port": 1\n  }\n}\n');
  assertEquals(await mode(home.paths.configFile), 0o600);
  assertEquals(names(`${home.root}/deep/er`), ["config.json"]);
});

Deno.test("saveConfig() keeps comments, order, unknown keys, references and the mode", async () => {
  await using home = await tempHome();
  const before = `{
  "zzz": { "b": 1, "a": 2 }, // mine
  "api": { "api_key": "\${KEY}", "port": 1 }
}
`;
  await home.write(before);
  await Deno.chmod(home.paths.configFile, 0o640);
  await saveConfig({
    ...home,
    before,
    value: { zzz: { b: 1, a: 2 }, api: { apiKey: "${KEY}", port: 2 } },
  });
  assertEquals(
    await home.read(),
    before.replace("api_key", "apiKey").replace('"port": 1', '"port": 2'),
  );
  assertEquals(await mode(home.paths.configFile), 0o640);
});

Deno.test("saveConfig() writes to what a link leads to", async () => {
  await using home = await tempHome();
  const target = `${home.root}/dotfiles.json`;
  await Deno.writeTextFile(target, "{}");
  await Deno.symlink(target, home.paths.configFile);
  await saveConfig({ ...home, before: "{}", value: { log: {} } });
  assertEquals(await Deno.readTextFile(target), '{\n  "log": {}\n}');
  assertEquals(await Deno.readLink(home.paths.configFile), target);
  assertEquals([names(home.root), names(home.paths.home)], [["dotfiles.json", "home"], [
    "config.json",
  ]]);
});

Deno.test("saveConfig() refuses when the file is not what the change was made to", async () => {
  await using home = await tempHome();
  const save = (before: string | undefined) => saveConfig({ ...home, before, value: { a: 1 } });
  await home.write('{"other":1}');
  for (const before of ["{}", undefined]) {
    await assertRejects(() => save(before), ServiceError, "was changed by somebody else");
  }
  assertEquals(await home.read(), '{"other":1}');
  await Deno.remove(home.paths.configFile);
  await assertRejects(() => save("{}"), ServiceError, "was changed by somebody else");
  assertEquals(names(home.paths.home), []);
});

Deno.test("saveConfig() refuses a link that leads nowhere", async () => {
  await using home = await tempHome();
  await Deno.symlink("nowhere.json", home.paths.configFile);
  await assertRejects(
    () => saveConfig({ ...home, before: undefined, value: {} }),
    ServiceError,
    'is a link to "nowhere.json", which does not exist',
  );
});

Deno.test("writeFileAtomic() leaves the old file and nothing else when it fails", async () => {
  await using home = await tempHome();
  const path = `${home.root}/home/file`;
  await Deno.writeTextFile(path, "old");
  const beforeReplace = () => Promise.reject(new Error("stop"));
  await assertRejects(
    () => writeFileAtomic(path, "new", { mode: 0o600, beforeReplace }),
    Error,
    "stop",
  );
  assertEquals([await Deno.readTextFile(path), names(`${home.root}/home`)], ["old", ["file"]]);
});
