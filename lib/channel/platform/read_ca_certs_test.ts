import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { makeCertificate } from "../../../tests/support/certificate.ts";
import { needs } from "../../../tests/support/needs.ts";
import { readCaCerts } from "./read_ca_certs.ts";

Deno.test({
  ...needs(
    "readCaCerts() reads certificates, and names the field of a file that has none",
    "openssl",
  ),
  async fn() {
    const dir = await Deno.makeTempDir();
    await makeCertificate(dir);
    assertEquals(await readCaCerts(""), []);
    assertEquals(await readCaCerts(`${dir}/ca.pem`), [await Deno.readTextFile(`${dir}/ca.pem`)]);
    await Deno.writeTextFile(`${dir}/none.pem`, "no certificate");
    await Deno.writeTextFile(
      `${dir}/odd.pem`,
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    for (
      const [name, words] of [
        ["gone.pem", "it cannot be read"],
        ["", "it is no file"],
        ["none.pem", "no certificate in PEM"],
        ["odd.pem", "its certificates cannot be read"],
      ]
    ) {
      const error = await assertRejects(
        () => readCaCerts(`${dir}/${name}`, "tlsCaFile"),
        ServiceError,
        `Cannot use tlsCaFile ${dir}/${name}: ${words}`,
      );
      assertEquals(error.code, "config_invalid");
    }
    await Deno.remove(dir, { recursive: true });
  },
});
