import { assertEquals, assertStringIncludes } from "@std/assert";
import { createStartPageRoutes, readStartPage } from "./start_page.ts";

Deno.test("createStartPageRoutes() serves the page with a policy that names its own script alone", async () => {
  const page = await readStartPage();
  const [route] = createStartPageRoutes({ page });
  const response = await (route!.handle as () => Response)();
  assertEquals(await response.text(), page);
  const policy = response.headers.get("content-security-policy")!;
  const script = page.slice(page.indexOf("<script>") + 8, page.indexOf("</script>"));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script));
  assertStringIncludes(policy, `'sha256-${new Uint8Array(digest).toBase64()}'`);
  assertEquals(policy.includes("unsafe-inline"), false);
  assertStringIncludes(policy, "frame-ancestors 'none'");
});
