import { assertEquals } from "@std/assert";
import type { ChannelDescriptor } from "../descriptor.ts";
import { hostFindings } from "./host_findings.ts";

const descriptor: Pick<ChannelDescriptor, "setup" | "permissions"> = {
  setup: {
    fields: {
      api: { kind: "string", format: "url" },
      server: { kind: "string", format: "host" },
      /** Where the platform reaches us. */
      publicUrl: { kind: "string", format: "url" },
      listenAt: { kind: "string" },
    },
    required: [],
  },
  permissions: { hosts: ["{api}", "{server}:25", "{listenAt}:80"], paths: [], variables: [] },
};

const found = (values: Record<string, string>, allowLocal: boolean) =>
  hostFindings(descriptor, values, allowLocal).map(({ level, field }) => `${level} ${field}`);

Deno.test("hostFindings() refuses this machine and its network where they are not allowed", () => {
  const local = { api: "https://192.168.0.1/x", server: "::1" };
  assertEquals(found(local, false), ["error api", "error server"]);
  assertEquals(found(local, true), []);
  const other = { publicUrl: "http://127.0.0.1", listenAt: "127.0.0.1", api: "", server: "" };
  assertEquals(found(other, false), []);
  assertEquals(found({ api: "https://example.org", server: "mail.example.org" }, false), []);
});

Deno.test("hostFindings() warns of a server elsewhere that is asked in the clear", () => {
  assertEquals(found({ api: "http://example.org" }, false), ["warning api"]);
  assertEquals(found({ api: "http://localhost:1" }, true), []);
});
