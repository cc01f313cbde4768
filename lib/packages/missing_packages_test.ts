import { assertEquals } from "@std/assert";
import { missingPackages } from "./missing_packages.ts";

Deno.test("missingPackages() looks for each version in every registry's folder", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const ids = ["@scope/a@1.2.3", "b@4.0.0"];
    assertEquals(missingPackages(ids, dir), ids);
    assertEquals(missingPackages([], `${dir}/not_there`), []);
    await Deno.mkdir(`${dir}/npm/registry.example/b/4.0.0`, { recursive: true });
    await Deno.mkdir(`${dir}/npm/mirror.example/@scope/a/1.2.4`, { recursive: true });
    assertEquals(missingPackages(ids, dir), ["@scope/a@1.2.3"]);
    await Deno.mkdir(`${dir}/npm/mirror.example/@scope/a/1.2.3`);
    assertEquals(missingPackages(ids, dir), []);
    await Deno.remove(`${dir}/npm/registry.example/b/4.0.0`);
    assertEquals(missingPackages(ids, dir), ["b@4.0.0"]);
    assertEquals(missingPackages(["left-pad"], dir), ["left-pad"]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
