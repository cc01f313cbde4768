/** The browser app of a home that was just made, where the built-in model answers. */

import { openPage } from "./support/browser.ts";
import { needs } from "./support/needs.ts";
import { shareService } from "./support/shared_service.ts";
import { httpOf } from "./support/wire_socket.ts";

const shared = shareService(() => ({}), ["gateway", "--json"]);

Deno.test({
  ...needs("from an empty home, the link of the start leads to a first answer", "chromium"),
  async fn() {
    await using page = await openPage(httpOf(shared.service.wsUrl).href);
    await page.getByRole("heading", { name: "Welcome" }).waitFor();
    await page.getByRole("button", { name: "What can you do?" }).click();
    await page.locator(".agent", { hasText: "I am the built-in offline model" }).waitFor();
    await page.locator(".chat-row", { hasText: "What can you do?" }).waitFor();
    await page.getByRole("heading", { name: "What can you do?" }).waitFor();
  },
});
