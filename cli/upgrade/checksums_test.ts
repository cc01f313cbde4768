import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { needs, programPath } from "../../tests/support/needs.ts";
import { parseChecksums, parseFileName, verifySignature } from "./checksums.ts";
import { newKey, writeRelease } from "./testing/release_folder.ts";

Deno.test("parseFileName() tells versions and platforms apart", () => {
  const parsed = (name: string) => {
    const found = parseFileName(name);
    return found && `${found.version} ${found.platform}`;
  };
  assertEquals(parsed("service-0.2.0-linux-x64"), "0.2.0 linux-x64");
  assertEquals(parsed("service-0.2.0-rc.1-macos-arm64"), "0.2.0-rc.1 macos-arm64");
  assertEquals(parsed("service-0.2.0-windows-x64.exe"), "0.2.0 windows-x64");
  assertEquals(parsed("service-0.2.0-linux-x64-compiled"), "0.2.0 linux-x64-compiled");
  assertEquals(parsed("service-0.2.0-linux-x64.sig"), undefined);
  assertEquals(parsed("service_0.2.0_amd64.deb"), undefined);
  assertEquals(parsed("service-0.2-linux-x64"), undefined);
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
