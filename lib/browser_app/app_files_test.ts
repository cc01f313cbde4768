import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { gunzipSync } from "node:zlib";
import { ServiceError } from "../base/errors.ts";
import { ROOT } from "../base/layout.ts";
import { findOwnDenoDir } from "../packages/deno_dir.ts";
import { type AppFile, appFiles } from "./app_files.ts";

const denoDir = findOwnDenoDir((name) => Deno.env.get(name));
const warnings: string[] = [];
const log = { warning: (message: string) => void warnings.push(message) };
const built = appFiles({ denoDir, log, root: ROOT, isBuilt: false });

const textOf = ({ gzip }: AppFile) => String(gunzipSync(gzip));

Deno.test("the first load of the app is under 100 KB, and names only files that there are", async () => {
  const files = new Map((await built()).map((file) => [file.name, file]));
  const page = textOf(files.get("index.html")!);
  const named = [...page.matchAll(/\/webui\/assets\/([\w.-]+)/g)].map(([, name]) => name!);
  const english = [...files.keys()].find((name) => name.startsWith("en-"))!;
  let bytes = 0;
  for (const name of new Set(["index.html", english, ...named])) {
    const file = files.get(name);
    assert(file !== undefined, `${name} is missing`);
    bytes += file.gzip.length;
  }
  assert(named.some((name) => name.startsWith("chat-")), "the chat is not fetched at once");
  assert(bytes < 100_000, `the first load has ${bytes} bytes`);
});

Deno.test("no script, style or page of the app names another origin or holds a schema library", async () => {
  for (const file of await built()) {
    const text = textOf(file);
    assertEquals(/\b(src|href)="(?!\/webui\/assets\/)/.exec(text.slice(0, 2_000))?.[0], undefined);
    for (const word of ["ZodError", "sourceMappingURL", "@import", "url(http"]) {
      assertEquals(text.includes(word), false, `${file.name}: ${word}`);
    }
  }
});

Deno.test("a build is kept: who asks again, and at once, gets the same files without another one", async () => {
  const before = Date.now();
  const [first, second] = await Promise.all([built(), built()]);
  assertEquals(first.map(({ name }) => name).sort(), second.map(({ name }) => name).sort());
  for await (const { name } of Deno.readDir(`${denoDir}/service-webui`)) {
    const { mtime } = await Deno.stat(`${denoDir}/service-webui/${name}`);
    assert(name.startsWith(".") || mtime!.getTime() < before, `${name} was made anew`);
  }
});

Deno.test("sources that can't be bundled are told, and the next who asks tries again", async () => {
  const dir = await Deno.makeTempDir();
  try {
    for (const folder of ["webui", "lib/contract"]) {
      await Deno.mkdir(`${dir}/${folder}`, { recursive: true });
    }
    await Deno.writeTextFile(`${dir}/imports.json`, "{}");
    const root = new URL(`file://${dir}/`);
    const files = appFiles({ denoDir: `${dir}/deno`, log, root, isBuilt: false });
    const error = await assertRejects(files, ServiceError, "can't be built");
    assertStringIncludes(error.message, "deno.json");
    await assertRejects(files, ServiceError, "can't be built");
    assertEquals(warnings.length, 2);
    const nowhere = appFiles({ denoDir: undefined, log, root, isBuilt: false });
    await assertRejects(nowhere, ServiceError, "no cache folder");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
