import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { noNetworkNotes, refusalNotes } from "./network_notes.ts";
import { gateFixture } from "../authority/testing/gate_fixture.ts";

Deno.test({
  ...needs("exec says which host a program did not reach, and how to ask for it", "bubblewrap"),
  async fn() {
    await using gate = await gateFixture({
      commandHosts: ["a.example", "127.0.0.1", "not-there.invalid"],
    });
    const run = async (command: string, hosts?: string[]) => {
      const { status, output } = await gate.act("exec", { command, hosts });
      assertEquals(status, "ok", output);
      return output.split("\n");
    };
    const twice = await run(
      "curl -sS https://b.example/; curl -sS https://b.example/; curl -sS https://a.example:8443/",
      ["a.example"],
    );
    const unlisted = "is not among the hosts that this program may reach";
    assertEquals(twice.slice(-3), [
      `[no connection to b.example:443: it ${unlisted}; ask with hosts: ["b.example"]]`,
      `[no connection to a.example:8443: port 8443 of it ${unlisted}; ask with hosts: ["a.example:8443"]]`,
      "[exit code 56]",
    ]);
    const inner = await run("curl --noproxy '' -sS http://127.0.0.1/", ["127.0.0.1"]);
    // What a person would have to allow first is not advised.
    assertStringIncludes(inner.at(-2)!, "no connection to 127.0.0.1:80: it leads to an address");
    assert(!inner.at(-2)!.includes("ask with"));
    const gone = await run("curl -sS https://not-there.invalid/", ["not-there.invalid"]);
    assertStringIncludes(
      gone.at(-2)!,
      "[no connection to not-there.invalid:443: it cannot be looked",
    );
    const direct = await run("curl --noproxy '*' -sS https://b.example/", ["a.example"]);
    assertEquals(direct.at(-2), "[this command reached no other hosts than it named in hosts]");
    const none = await run("curl -sS https://b.example/");
    assertEquals(none.slice(-2), [
      "[this command had no network: name the hosts that it has to reach in hosts]",
      "[exit code 6]",
    ]);
    assertEquals(await run("echo ok", ["a.example"]), ["ok", "[exit code 0]"]);
  },
});

Deno.test("refusalNotes() names an address of IPv6 as hosts take it, and is bounded", () => {
  const reason = "it is not";
  const one = { host: "2001:db8::1", port: 443, reason, isUnlisted: true };
  assertEquals(refusalNotes([one], ""), [
    'no connection to [2001:db8::1]:443: it is not; ask with hosts: ["[2001:db8::1]:443"]',
  ]);
  const long = { ...one, host: "a".repeat(253) };
  assertEquals(refusalNotes([one, long], "").length, 1);
});

Deno.test("noNetworkNotes() says nothing where nothing was looked up", () => {
  assertEquals(noNetworkNotes("all is well"), []);
  assertEquals(noNetworkNotes("npm error errno EAI_AGAIN").length, 1);
});
