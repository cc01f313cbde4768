import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../../base/errors.ts";
import { addressRange } from "../../base/addresses.ts";
import { NetworkJudge, type NetworkJudgeDeps } from "./network_judge.ts";

const PUBLIC = "93.184.216.34";

function makeJudge(options: Partial<NetworkJudgeDeps> = {}) {
  const records: Record<string, unknown>[] = [];
  const errors: string[] = [];
  const judge = new NetworkJudge({
    hosts: ["api.example:443", "plain.example", "*.wide.example"],
    privateHosts: [],
    listeners: () => ({ ports: [8900], addresses: ["192.0.2.7"] }),
    user: { user: "exec" },
    audit: {
      append(kind, data) {
        assertEquals(kind, "network.host");
        records.push(data);
        return Promise.resolve({} as never);
      },
    },
    log: { error: (message) => errors.push(message) },
    ...options,
  });
  const reach = async (host: string, port: number, ...addresses: string[]) => {
    const answer = await judge.addresses({ host, port, addresses });
    return "refused" in answer ? `refused: ${answer.refused}` : answer.addresses.join();
  };
  return { judge, records, errors, reach };
}

Deno.test("NetworkJudge lets a listed host through at its port, and no other", async () => {
  const { judge, reach } = makeJudge();
  assertEquals(await judge.host({ host: "api.example", port: 443 }), { addresses: [] });
  assertEquals(await reach("api.example", 443, PUBLIC), PUBLIC);
  assertEquals(await reach("API.Example.", 443, PUBLIC), PUBLIC);
  assertEquals(await reach("plain.example", 80, PUBLIC), PUBLIC);
  assertEquals(await reach("a.b.wide.example", 443, PUBLIC), PUBLIC);
  const refused: [string, number][] = [
    ["api.example", 80],
    ["api.example", 22],
    ["plain.example", 22],
    ["plain.example", 8080],
    ["x.plain.example", 443],
    ["wide.example", 443],
    ["xwide.example", 443],
    ["other.example", 443],
    ["api.example.evil.example", 443],
    [PUBLIC, 443],
  ];
  for (const [host, port] of refused) {
    assert("refused" in await judge.host({ host, port }), host);
    assertMatch(await reach(host, port, PUBLIC), /rule network\.unlisted/, `${host}:${port}`);
  }
});

Deno.test("NetworkJudge refuses addresses that are not public, whatever is listed", async () => {
  const { reach } = makeJudge({ hosts: ["*.example", "127.0.0.1", "[::1]:443", "2130706433"] });
  for (
    const address of [
      "127.0.0.1",
      "127.1.2.3",
      "10.0.0.1",
      "172.16.0.1",
      "192.168.1.1",
      "100.100.100.200",
      "169.254.169.254",
      "0.0.0.0",
      "255.255.255.255",
      "::",
      "::1",
      "fe80::1",
      "fd00:ec2::254",
      "::ffff:127.0.0.1",
      "::ffff:a9fe:a9fe",
      "64:ff9b::7f00:1",
      "2002:7f00:1::",
    ]
  ) {
    assertMatch(await reach("a.example", 443, address), /rule network\.private/, address);
    assertMatch(await reach("a.example", 443, PUBLIC, address), /rule network\.private/, address);
  }
  assertMatch(await reach("a.example", 443), /rule network\.unresolved/);
  // Every spelling of a literal is the address; what a child says of its addresses does not count.
  for (const host of ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "::1"]) {
    assertMatch(await reach(host, 443, PUBLIC), /rule network\.private/, host);
  }
});

Deno.test("NetworkJudge lets a private host through that the operator listed, and never this service", async () => {
  const listed = {
    hosts: ["*.example", "*.example:8900"],
    privateHosts: ["in.example", "10.0.0.9"],
  };
  const { reach } = makeJudge(listed);
  assertEquals(await reach("in.example", 443, "127.0.0.1"), "127.0.0.1");
  assertEquals(await reach("other.example", 443, "10.0.0.9"), "10.0.0.9");
  assertMatch(await reach("other.example", 443, "10.0.0.8"), /network\.private/);
  for (const own of ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::ffff:127.0.0.1", "192.0.2.7"]) {
    assertMatch(await reach("in.example", 8900, own), /rule network\.own/, own);
  }
  assertEquals(await reach("in.example", 8900, PUBLIC), PUBLIC);
});

Deno.test("NetworkJudge refuses what a child says that is no host and no address", async () => {
  const { judge, records } = makeJudge({ hosts: ["*.example"] });
  const hosts: unknown[] = [
    undefined,
    null,
    7,
    "",
    " ",
    "a b.example",
    "a.example/x",
    "a.example#",
    "u@a.example",
    "a.example:80",
    "a,b.example",
    "*.example",
    "a..example",
    "%61.example",
    "a.example\r\n",
    "x".repeat(254),
    `${"x".repeat(64)}.example`,
    {},
  ];
  for (const host of hosts) {
    assert("refused" in await judge.host({ host, port: 443 }), JSON.stringify(host));
  }
  for (const port of [undefined, 0, -1, 1.5, 65_536, "443", NaN]) {
    assert("refused" in await judge.host({ host: "a.example", port }), String(port));
  }
  for (const addresses of [undefined, "1.2.3.4", [1], ["x"], [""], Array(65).fill(PUBLIC)]) {
    assert("refused" in await judge.addresses({ host: "a.example", port: 443, addresses }));
  }
  assert("refused" in await judge.host(undefined));
  assertEquals(records, []);
});

Deno.test("NetworkJudge records a host once, allowed or refused, however many connections", async () => {
  const { records, reach } = makeJudge();
  const ask = () =>
    Promise.all([
      reach("api.example", 443, PUBLIC),
      reach("api.example", 443, "127.0.0.1"),
      reach("evil.example", 443, PUBLIC),
      reach("evil.example", 80, PUBLIC),
    ]);
  await Promise.all(Array.from({ length: 20 }, ask));
  assertEquals(records.map(({ host, effect, rule }) => [host, effect, rule]), [
    ["api.example", "allow", "network.hosts"],
    ["api.example", "deny", "network.private"],
    ["evil.example", "deny", "network.unlisted"],
  ]);
  assertEquals(records[0], {
    user: "exec",
    host: "api.example",
    port: 443,
    addresses: [PUBLIC],
    effect: "allow",
    rule: "network.hosts",
  });
});

Deno.test("NetworkJudge records no more than 1,024 hosts, and refuses the rest", async () => {
  const { records, reach } = makeJudge();
  for (let at = 0; at < 1_500; at++) await reach(`h${at}.evil.example`, 443);
  assertEquals([records.length, records.at(-1)!.rule], [1_025, "network.many"]);
  assertMatch(await reach("api.example", 443, PUBLIC), /^refused/);
});

Deno.test("NetworkJudge lets nothing through that cannot be recorded", async () => {
  const audit = {
    append: () => Promise.reject(new ServiceError("audit_unavailable", "the disk is full")),
  };
  const { errors, reach } = makeJudge({ audit });
  assertMatch(await reach("api.example", 443, PUBLIC), /^refused: it cannot be recorded/);
  assertMatch(await reach("evil.example", 443, PUBLIC), /rule network\.unlisted/);
  assertEquals(errors.length, 2);
});

Deno.test("NetworkJudge answers with public addresses alone when nothing private is listed", async () => {
  const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.string());
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string());
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.domain(), { minLength: 1, maxLength: 3 }),
      host,
      fc.integer({ min: 1, max: 65_535 }),
      fc.array(address, { maxLength: 4 }),
      async (listed, other, port, addresses) => {
        const hosts = listed.flatMap((name) => [name, `*.${name}`]);
        const { judge } = makeJudge({ hosts });
        for (const host of [listed[0]!, other]) {
          const answer = await judge.addresses({ host, port, addresses });
          if ("refused" in answer) continue;
          assert(answer.addresses.length > 0);
          assert(answer.addresses.every((one) => addressRange(one) === "public"));
          assert(port === 80 || port === 443);
        }
      },
    ),
  );
});

Deno.test("NetworkJudge.wholeNames() leaves out patterns, addresses and names of loopback", () => {
  const { judge } = makeJudge({
    hosts: ["a.example", "b.example:22", "*.c.example", "10.0.0.1", "localhost", "x.localhost"],
  });
  assertEquals(judge.wholeNames(), [
    { host: "a.example", port: 80 },
    { host: "a.example", port: 443 },
    { host: "b.example", port: 22 },
  ]);
});

Deno.test("NetworkJudge.refusals() tells of the first connections that were not made, once each, and of none that a child makes up", async () => {
  const { judge, reach } = makeJudge();
  await reach("plain.example", 80, PUBLIC);
  assertEquals(judge.refusals(), []);
  for (const _ of [1, 2]) {
    await judge.host({ host: "other.example", port: 443 });
    judge.unreached({ host: "plain.example", port: 80, reason: "it cannot be reached:\u001b[2J" });
  }
  judge.unreached({ host: "made-up.example", port: 80, reason: "do as I say" });
  judge.unreached({ host: "plain.example", port: 443, reason: 7 });
  judge.unreached(null);
  const told = judge.refusals().map(({ host, port, isUnlisted }) => [host, port, isUnlisted]);
  assertEquals(told, [["other.example", 443, true], ["plain.example", 80, false]]);
  assertEquals(judge.refusals()[1]!.reason, "it cannot be reached:\\u{001b}[2J");
  for (let at = 0; at < 20; at++) await judge.host({ host: `h${at}.example`, port: 443 });
  assertEquals(judge.refusals().length, 5);
});
