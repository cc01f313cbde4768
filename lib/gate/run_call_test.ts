import { assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import type { SandboxNetworkOptions } from "../executor/network/open_network.ts";
import {
  actionRecords,
  answer,
  ask,
  serveSite,
  withApprover,
} from "../authority/testing/ask_gate.ts";
import { gateFixture } from "../authority/testing/gate_fixture.ts";

/** Networks that are opened and closed, and lead nowhere. */
function fakeNetworks(fail?: Error) {
  const opened: Omit<SandboxNetworkOptions, "signal">[] = [];
  let closed = 0;
  return {
    opened,
    closed: () => closed,
    openNetwork: ({ hosts, user }: SandboxNetworkOptions) => {
      opened.push({ hosts, user });
      if (fail !== undefined) return Promise.reject(fail);
      return Promise.resolve({
        socket: "/nowhere/proxy.sock",
        ended: new Promise<string>(() => {}),
        refusals: () => [],
        close: () => {
          closed++;
          return Promise.resolve();
        },
      });
    },
  };
}

Deno.test(
  needs(
    "exec reaches a host that executor.hosts lists, over its own proxy, and no other",
    "bubblewrap",
    "curl",
  ),
  async () => {
    await using site = serveSite(() => new Response("from the site"));
    await using gate = await gateFixture({
      commandHosts: [`localhost:${site.port}`],
      privateHosts: [`localhost:${site.port}`],
    });
    // A program that is told of no exception reaches this machine by the proxy too.
    const curl = "unset no_proxy NO_PROXY; curl -sS";
    const command = `${curl} http://localhost:${site.port}/`;
    const hosts = [`LOCALHOST:${site.port}`];
    const result = await gate.act("exec", { command, hosts });
    assertStringIncludes(result.output, "from the site");
    const [start] = await actionRecords(gate);
    assertEquals((start!.target as { hosts: string[] }).hosts, [`localhost:${site.port}`]);
    assertEquals(start!.decision, { effect: "allow", rule: "exec.listed" });
    // Without asking for it, and for another host than it asked for, there is no way.
    const without = await gate.act("exec", { command });
    assertEquals(without.output.includes("from the site"), false);
    await using other = serveSite();
    const elsewhere = await gate.act("exec", {
      command: `${curl} http://localhost:${other.port}/`,
      hosts,
    });
    assertEquals([elsewhere.output.includes("done"), other.seen.length], [false, 0]);
  },
);

Deno.test(
  needs(
    "exec with a host that nobody listed asks, shows the host, and is refused where nobody is there",
    "bubblewrap",
  ),
  async () => {
    const { openNetwork, opened, closed } = fakeNetworks();
    await using gate = await withApprover(await gateFixture({ openNetwork }));
    const args = { command: ["true"], hosts: ["evil.example", "api.example:8443"] };
    const alone = await gate.act("exec", args, { context: { attended: false } });
    assertEquals([alone.status, opened], ["refused", []]);
    assertStringIncludes(
      alone.output,
      'exec of "true (network: api.example:8443, evil.example:443, evil.example:80)"',
    );
    assertStringIncludes(
      alone.output,
      '"hosts":["api.example:8443","evil.example:443","evil.example:80"]',
    );
    const { result, next } = ask(gate, "exec", args);
    const view = await next(1);
    assertStringIncludes(
      view.details,
      "network: api.example:8443, evil.example:443, evil.example:80",
    );
    await answer(gate, view);
    await result;
    assertEquals(opened, [{
      hosts: ["api.example:8443", "evil.example:443", "evil.example:80"],
      user: { kind: "exec", sessionKey: "cli:test", turnId: "turn-1", callId: "call-1" },
    }]);
    assertEquals(closed(), 1);
  },
);

Deno.test(
  needs("exec runs nothing when the way to its hosts cannot be opened", "bubblewrap"),
  async () => {
    const { openNetwork } = fakeNetworks(new Error("no socket"));
    await using gate = await gateFixture({ openNetwork, commandHosts: ["a.example"] });
    const result = await gate.act("exec", { command: "touch ran", hosts: ["a.example"] });
    assertEquals(result.status, "failed");
    assertStringIncludes(
      result.output,
      "did not finish: it cannot be started: the way to its hosts cannot be opened: no socket",
    );
    const made = await Deno.stat(`${gate.workspace}/ran`).then(() => true, () => false);
    assertEquals(made, false);
  },
);

Deno.test("exec refuses hosts that are none before anything else", async () => {
  await using gate = await gateFixture({ commandHosts: ["*.example"] });
  for (const host of ["*.example", "https://a.example/", "a.example:0", "", "a b", "*"]) {
    const result = await gate.act("exec", { command: "true", hosts: [host] });
    assertEquals([host, result.status], [host, "failed"]);
    assertStringIncludes(result.output, "is not <host> or <host>:<port>");
  }
  const many = Array.from({ length: 21 }, (_, index) => `h${index}.example`);
  assertEquals((await gate.act("exec", { command: "true", hosts: many })).status, "failed");
});

Deno.test("exec without a sandbox is given a secret, and opens no proxy that could not hold it", async () => {
  const { openNetwork, opened } = fakeNetworks();
  await using gate = await withApprover(
    await gateFixture({
      sandbox: "off",
      allowUnconfined: true,
      openNetwork,
      commandHosts: ["a.example"],
    }),
  );
  // Only its length is in the command: a scope that holds the value is refused.
  const command = "test ${#KEY} = 14 && echo given";
  await gate.state.secrets.set({
    name: "KEY",
    value: "a-secret-value",
    hosts: [],
    commands: [command],
  });
  const { result, next } = ask(gate, "exec", { command, hosts: ["a.example"], secrets: ["KEY"] });
  const main = await next(1);
  assertEquals(main.capability, "exec");
  await answer(gate, main);
  const use = await next(2);
  assertEquals([use.capability, use.target.startsWith("secret KEY for ")], ["secret.use", true]);
  await answer(gate, use);
  assertStringIncludes((await result).output, "given");
  assertEquals(opened, []);
});
