import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { ServiceError } from "../base/errors.ts";
import { withFolder } from "../journal/testing/steps.ts";
import { readOwnFile } from "./read_own_file.ts";

const param = "media[0]";

Deno.test("readOwnFile() gives the bytes of a file, as many as may be", () =>
  withFolder(async (folder) => {
    const path = join(folder, "a");
    for (const length of [0, 1, 999, 1_000]) {
      const bytes = crypto.getRandomValues(new Uint8Array(length));
      await Deno.writeFile(path, bytes);
      assertEquals(await readOwnFile({ path, folder, maxBytes: 1_000, param }), bytes);
    }
    await Deno.writeFile(path, new Uint8Array(1_001));
    const error = await assertRejects(
      () => readOwnFile({ path, folder, maxBytes: 1_000, param }),
      ServiceError,
    );
    assertEquals([error.code, error.details.param], ["too_large", param]);
  }));

Deno.test("readOwnFile() counts what a file has, not what it says", async () => {
  // A file of the system that has no length and no end.
  const error = await assertRejects(
    () => readOwnFile({ path: "/proc/self/smaps", folder: "/proc/self", maxBytes: 100, param }),
    ServiceError,
  );
  // /proc/self is a link itself: its real name is what counts for both.
  assertEquals(error.code, "too_large");
});

Deno.test("readOwnFile() takes no path that is spelled in another way, or leads elsewhere", () =>
  withFolder(async (dir) => {
    const folder = join(dir, "own");
    await Deno.mkdir(folder);
    await Deno.writeTextFile(join(dir, "secret"), "secret");
    await Deno.writeTextFile(join(dir, "ownership"), "secret");
    await Deno.symlink("../secret", join(folder, "link"));
    await Deno.symlink("..", join(folder, "up"));
    const path = (text: string) => `${folder}/${text}`;
    for (
      const [each, words] of [
        [path("link"), "leads out"],
        [path("up/secret"), "leads out"],
        [path("../secret"), "expected a path in"],
        [path("./link"), "expected a path in"],
        [path("a\0"), "expected a path in"],
        [`${folder}ership`, "expected a path in"],
        ["own/link", "expected a path in"],
        ["", "expected a path in"],
        [path("none"), "no such file"],
        [path("none/none"), "no such file"],
        [path("link/none"), "unreadable"],
      ] as const
    ) {
      const { code, message } = await assertRejects(
        () => readOwnFile({ path: each, folder, maxBytes: 100, param }),
        ServiceError,
      );
      assertEquals(code, "invalid_request", each);
      assertStringIncludes(message, words, each);
      assertEquals(message.includes("secret\n"), false);
    }
    // A folder that is reached over a link itself is the channel's all the same.
    await Deno.writeTextFile(join(folder, "mine"), "mine");
    await Deno.symlink(folder, join(dir, "also"));
    const also = join(dir, "also");
    const read = readOwnFile({ path: join(also, "mine"), folder: also, maxBytes: 100, param });
    assertEquals(new TextDecoder().decode(await read), "mine");
  }));
