import { assertEquals } from "@std/assert";
import { type BackupHead, type ManifestFile, ManifestText } from "./manifest.ts";

const HEAD: BackupHead = {
  product: "service",
  format: 1,
  version: "0.1.0",
  createdAt: "2026-01-02T03:04:05.000Z",
  secretsKeyOutside: false,
};

Deno.test("ManifestText is the JSON of a backup, as every version of the format has written it", () => {
  const file = (path: string): ManifestFile => ({ path, size: 7, sha256: "ab".repeat(32) });
  for (const paths of [[], ["home/a"], ["home/a", 'home/a "b"\n c', "workspace/ü/", "home/{,"]]) {
    const files = paths.map(file);
    const text = new ManifestText();
    const whole = [text.begin(HEAD), ...files.map((each) => text.file(each)), text.end()].join("");
    assertEquals(whole, JSON.stringify({ ...HEAD, files }, null, 1) + "\n");
  }
});
