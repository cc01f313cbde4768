import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { needs, programPath } from "../../tests/support/needs.ts";
import { parseChecksums, verifySignature, versionOf } from "./checksums.ts";
import { newKey, writeRelease } from "./testing/release_folder.ts";

Deno.test("versionOf() knows the names of one platform", () => {
  const linux = { os: "linux", arch: "x86_64", isCompiled: false } as const;
  assertEquals(versionOf("service-0.2.0-linux-x64", linux), "0.2.0");
  assertEquals(versionOf("service-0.2.0-rc.1-linux-x64", linux), "0.2.0-rc.1");
  const others = [
    "service-0.2.0-linux-arm64",
    "service-0.2.0-linux-x64-compiled",
    "service-0.2-linux-x64",
  ];
  for (const name of [...others, "service_0.2.0_amd64.deb", "service-0.2.0-linux-x64.sig"]) {
    assertEquals(versionOf(name, linux), undefined, name);
  }
  assertEquals(
    versionOf("service-0.2.0-linux-x64-compiled", { ...linux, isCompiled: true }),
    "0.2.0",
  );
  const windows = { ...linux, os: "windows" } as const;
  assertEquals(versionOf("service-0.2.0-windows-x64.zip", windows), "0.2.0");
  assertEquals(
    versionOf("service-0.2.0-windows-x64.exe", { ...windows, isCompiled: true }),
    "0.2.0",
  );
});

Deno.test("parseChecksums() takes lists as sha256sum writes them, and nothing else", () => {
  const sum = "a".repeat(64);
  assertEquals([...parseChecksums(`${sum}  a\n${sum} *b\n`)], [["a", sum], ["b", sum]]);
  for (const text of ["", "\n", `${sum}  ../a\n`, `${sum} a`, "<html>", `${sum}  a\nx`]) {
    assertThrows(() => parseChecksums(text), Error, "SHA256SUMS isn't a list of checksums");
  }
});

Deno.test({
  ...needs("the signature of a release is one that openssl and sha256sum verify too", "openssl"),
  async fn() {
    const dir = await Deno.makeTempDir();
    try {
      const key = newKey();
      await writeRelease(dir, { a: "text" }, key);
      await Deno.writeTextFile(`${dir}/key.pem`, key.publicPem);
      const verify = async () => {
        const { success } = await new Deno.Command(programPath("openssl"), {
          args: [
            ...["pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-rawin"],
            ...["-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"],
          ],
          cwd: dir,
          stdout: "null",
          stderr: "null",
        }).output();
        return success;
      };
      assertEquals(await verify(), true);
      const list = await Deno.readFile(`${dir}/SHA256SUMS`);
      const signature = await Deno.readFile(`${dir}/SHA256SUMS.sig`);
      await verifySignature(list, signature, key.publicKey);
      list[0]! ^= 1;
      await Deno.writeFile(`${dir}/SHA256SUMS`, list);
      assertEquals(await verify(), false);
      await assertRejects(() => verifySignature(list, signature, key.publicKey));
      await assertRejects(() => verifySignature(list, signature.slice(1), key.publicKey));
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});
