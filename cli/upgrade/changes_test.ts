import { assertEquals } from "@std/assert";
import { changesBetween, isNewer } from "./changes.ts";

Deno.test("changesBetween() takes the versions after one, up to another", () => {
  const changelog = [
    "# C",
    "",
    ...["0.4.0", "[0.3.0] - 2030", "0.3.0-rc.1", "0.2.0", "0.1.0"]
      .flatMap((version) => [`## ${version}`, "", `- ${version}`, ""]),
  ].join("\n");
  const versions = (from: string, to: string) =>
    changesBetween(changelog, from, to).filter((line) => line.startsWith("- "));
  assertEquals(versions("0.2.0", "0.3.0"), ["- [0.3.0] - 2030", "- 0.3.0-rc.1"]);
  assertEquals(versions("0.3.0-rc.1", "0.3.0"), ["- [0.3.0] - 2030"]);
  assertEquals(versions("0.4.0", "0.4.0"), []);
  assertEquals(changesBetween("no headings", "0.1.0", "0.2.0"), []);
});

Deno.test("isNewer() orders versions as Semantic Versioning does", () => {
  const order = ["0.1.0-alpha", "0.1.0-rc.2", "0.1.0-rc.10", "0.1.0", "0.1.10", "0.2.0", "1.0.0"];
  for (const [at, version] of order.entries()) {
    for (const [index, other] of order.entries()) {
      assertEquals(isNewer(version, other), at > index, `${version} ${other}`);
    }
  }
});
