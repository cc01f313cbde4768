/** The browser app behind a real proxy that signs people in. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { AUDIENCE, ISSUER, makeSigner, sign } from "../../lib/trusted_proxy/testing/issuer.ts";
import { openPage, say } from "../support/browser.ts";
import { makeCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free_port.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { FORWARDED, startNginx } from "../support/nginx.ts";

Deno.test({
  ...needs(
    "nginx signs a person in to the app, and out; without its word a token is asked for",
    "nginx",
    "openssl",
    "chromium",
  ),
  async fn() {
    await using home = await makeHome();
    const port = freePort();
    const signer = await makeSigner("ES256", "one");
    await home.configure({
      gates: { approvers: ["webui:boss@example.org"] },
      channels: {
        websocket: {
          publicWsUrl: `wss://localhost:${port}/`,
          tokenIssueSecret: "a-secret-of-the-port",
          trustedProxyAuth: {
            trustedPeerCidrs: ["127.0.0.1/32"],
            assertionHeader: "X-Assertion",
            issuer: ISSUER,
            audience: AUDIENCE,
            jwks: { keys: [signer.jwk] },
            allowedIdentities: ["ann@example.org"],
            signOutPath: "/proxy/out",
          },
        },
      },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    await makeCertificate(home.dir);
    const now = Math.floor(Date.now() / 1_000);
    const assertion = (email: string) => sign(signer, { email, iat: now, exp: now + 3_600 });
    await using _nginx = await startNginx(home.dir, port, new URL(gateway.wsUrl).host, {
      // Long tokens are one name of the table.
      before: `
        map_hash_bucket_size 128;
        map $cookie_who $assertion {
          default "";
          ann ${await assertion("ann@example.org")};
          eve ${await assertion("eve@example.org")};
        }`,
      headers: `${FORWARDED}
          proxy_set_header X-Assertion $assertion;`,
      locations: `
        location /proxy/in/ {
          if ($uri ~ "^/proxy/in/([a-z]+)$") { set $who $1; }
          add_header Set-Cookie "who=$who; Path=/; Secure; HttpOnly";
          return 302 https://$http_host/;
        }
        location = /proxy/out {
          add_header Set-Cookie "who=; Path=/; Max-Age=0";
          return 302 https://$http_host/;
        }`,
    });
    const url = `https://localhost:${port}/`;
    await using page = await openPage(url, { ignoreHTTPSErrors: true });
    const secret = page.getByLabel("Secret or token");
    const pages = page.getByRole("navigation", { name: "Pages" });
    const message = page.getByLabel("Message", { exact: true });
    await secret.waitFor();
    // Somebody whom the proxy knows and the service doesn't.
    await page.goto(`${url}proxy/in/eve`);
    await secret.waitFor();

    await page.goto(`${url}proxy/in/ann`);
    await message.waitFor();
    await say(page, "hello");
    await page.locator(".turn-foot").waitFor();
    const name = await page.evaluate("location.hash") as string;
    await page.reload();
    await page.locator(".me", { hasText: "hello" }).waitFor();
    // Who may not answer is offered no buttons, and told who may.
    await home.run(["tokens", "issue", "--scopes", "approve"]);
    const args = JSON.stringify({ path: `${home.dir}/outside.txt`, content: "x" });
    await say(page, `/tool write_file ${args}`);
    const card = page.locator(".ask");
    await card.getByText("Only webui:boss@example.org may answer this.").waitFor();
    assertEquals(await card.getByRole("button").count(), 0);
    await page.getByRole("button", { name: "Stop" }).click();
    const offered = await pages.getByRole("link").allInnerTexts();
    for (const each of ["Secrets", "Settings", "Logs", "Sign out"]) {
      assert(offered.includes(each), each);
    }
    await pages.getByRole("link", { name: "Secrets" }).click();
    await page.getByText("No secrets yet.").waitFor();
    const { stdout } = await home.run(["sessions", "list", "--json"]);
    // Stored under the person.
    assertStringIncludes(stdout, `.${name.slice("#/chat/".length)}"`);

    await pages.getByRole("link", { name: "Sign out" }).click();
    await secret.waitFor();
    assertEquals(await page.context().cookies(), []);

    // A token of somebody else sees what its scopes allow, and nothing of her chat.
    const issued = await home.run(["tokens", "issue", "--scopes", "read", "--json"]);
    await secret.fill(JSON.parse(issued.stdout).token);
    await secret.press("Enter");
    await page.getByText("Your token may read, but not write.").waitFor();
    const narrow = await pages.getByRole("link").allInnerTexts();
    for (const each of ["Secrets", "Logs", "Sign out"]) assert(!narrow.includes(each), each);
    assertEquals(await page.locator(".chat-row").count(), 0);
    await page.getByRole("button", { name: "Sign out" }).click();
    await secret.waitFor();
  },
});
