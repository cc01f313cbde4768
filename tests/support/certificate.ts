/**
 * A CA and a leaf for localhost, made by openssl. Needed as a pair: a certificate that signed itself is
 * no server's for every client.
 *
 * @module
 */

/** PEM texts. */
export interface Certificate {
  ca: string;
  cert: string;
  key: string;
}

/** Makes them in a folder, as `ca.pem`, `cert.pem` and `key.pem`. */
export async function makeCertificate(dir: string): Promise<Certificate> {
  const openssl = async (...args: string[]) => {
    const { success, stderr } = await new Deno.Command("openssl", { args, cwd: dir }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    ...["req", "-x509", ...curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2"],
    ...["-subj", "/CN=Test CA", "-addext", "keyUsage=critical,keyCertSign"],
  );
  await openssl(
    ...["req", ...curve, "-keyout", "key.pem", "-out", "leaf.csr", "-subj", "/CN=localhost"],
  );
  await Deno.writeTextFile(`${dir}/leaf.ext`, "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  await openssl(
    ...["x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key"],
    ...["-CAcreateserial", "-out", "cert.pem", "-days", "2", "-extfile", "leaf.ext"],
  );
  const read = (name: string) => Deno.readTextFile(`${dir}/${name}`);
  return {
    ca: await read("ca.pem"),
    cert: await read("cert.pem"),
    key: await read("key.pem"),
  };
}
