import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { auditFixture } from "./testing/audit_fixture.ts";
import { importVerifier, openSigner, ownVerifier } from "./signing_key.ts";

Deno.test("openSigner() makes a key once, and only when what it needs is there", async () => {
  const keysDir = await Deno.makeTempDir();
  try {
    assertEquals(await ownVerifier(keysDir), undefined);
    await assertRejects(() => openSigner(keysDir, () => Promise.reject(new Error("full"))));
    assertEquals(await ownVerifier(keysDir), undefined);
    let prepared = 0;
    const prepare = () => Promise.resolve(void prepared++);
    const made = await openSigner(keysDir, prepare);
    const again = await openSigner(keysDir, prepare);
    assertEquals([prepared, again.fingerprint], [1, made.fingerprint]);

    const verifier = await importVerifier(made.publicKey, "a test");
    const signature = await again.sign("text");
    assertEquals(verifier.fingerprint, made.fingerprint);
    assertEquals(await verifier.verify("text", signature), true);
    assertEquals(await verifier.verify("texT", signature), false);
    for (const bad of ["", "?", "AAAA", signature.slice(4)]) {
      assertEquals(await verifier.verify("text", bad), false);
    }
  } finally {
    await Deno.remove(keysDir, { recursive: true });
  }
});

Deno.test("openAudit() refuses a key that is none, naming its file", async () => {
  await using audit = await auditFixture();
  await audit.write(1);
  const path = `${audit.keysDir}/audit-signing.key`;
  const pem = await Deno.readTextFile(path);
  const rsa = pem.replace(/MC4CAQAwBQYDK2Vw/, "MC4CAQAwBQYDK2Vu");
  for (const text of ["", "junk", pem.slice(0, 60), rsa, pem.replaceAll("PRIVATE", "PUBLIC")]) {
    await Deno.writeTextFile(path, text);
    const error = await assertRejects(() => audit.open(), ServiceError);
    assertEquals(error.code, "audit_unavailable");
    assertStringIncludes(error.message, "audit-signing.key");
  }
  for (const text of ["", "junk", pem]) {
    await assertRejects(() => importVerifier(text, "k.pem"), Error, 'Cannot use "k.pem"');
  }
});
