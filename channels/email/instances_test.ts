import { assertEquals } from "@std/assert";
import { instances } from "./instances.ts";

Deno.test("instances has the account of the section and each of its accounts (C16, C18)", () => {
  const section = {
    enabled: true,
    imapHost: "imap.example.com",
    smtpHost: "smtp.example.com",
    address: "agent@example.com",
    accounts: { work: { address: "work@example.com" }, old: { enabled: false } },
  };
  const all = instances.instanceSpecs(section, false);
  assertEquals(
    all.map((
      { instanceId, config },
    ) => [instanceId, config.address, config.imapHost, config.enabled]),
    [
      ["default", "agent@example.com", "imap.example.com", true],
      ["work", "work@example.com", "imap.example.com", true],
      ["old", "agent@example.com", "imap.example.com", false],
    ],
  );
  const next = instances.updateInstanceConfig(section, { mailbox: "Agent" }, "work");
  assertEquals(next, {
    ...section,
    accounts: { ...section.accounts, work: { address: "work@example.com", mailbox: "Agent" } },
  });
});
