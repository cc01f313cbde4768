import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { MAX_FILES } from "../../lib/documents/read_upload.ts";
import { attachMentioned } from "./mentions.ts";

Deno.test("attachMentioned() reads the files that are named, and no keys that a pasted text names", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${root}/.ssh`);
    await Deno.writeTextFile(`${root}/.ssh/id_rsa`, "secret");
    await Deno.writeTextFile(`${root}/a.txt`, "text");
    await Deno.symlink(`${root}/.ssh/id_rsa`, `${root}/log.txt`);
    const [file] = await attachMentioned(`See @${root}/a.txt, @nobody and a@b.example`);
    assertEquals(atob(file!.data), "text");
    for (const name of [".ssh/id_rsa", "log.txt"]) {
      const error = await assertRejects(
        () => attachMentioned(`error: @${root}/a.txt @${root}/${name}`),
        ServiceError,
        "keys and passwords",
      );
      assertEquals(error.code, "refused");
    }
    // Over the local socket they would be one message that it doesn't take.
    const names = Array.from({ length: MAX_FILES + 1 }, (_, at) => `${root}/${at}.txt`);
    for (const name of names) await Deno.writeTextFile(name, "x");
    const many = names.map((name) => `@${name}`).join(" ");
    const error = await assertRejects(() => attachMentioned(many), ServiceError);
    assertEquals(error.code, "too_large");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
