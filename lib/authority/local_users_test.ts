import { assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import {
  createLocalUsers,
  type LocalUser,
  type LocalUsersDeps,
  openLocalUsers,
} from "./local_users.ts";

const ME = 1_000;
const CONNECTION = {
  remote: { address: "127.0.0.1", port: 0xd431 },
  local: { address: "127.0.0.1", port: 0x2329 },
};
const ENDS = "0100007F:D431 0100007F:2329";

/** A row as Linux prints it. */
function row(ends: string, { uid = ME, state = "01", inode = 1_965 } = {}): string {
  const rest = `00000000:00000000 00:00000000 00000000 ${
    String(uid).padStart(5)
  }        0 ${inode}`;
  return `   7: ${ends} ${state} ${rest} 1 0000000000000000 20 4 30 10 -1\n`;
}

function usersOf(rows: string | (() => string), deps: Partial<LocalUsersDeps> = {}) {
  return createLocalUsers({
    trusted: [],
    os: "linux",
    uid: ME,
    log: { warning: () => {} },
    readSockets: () => Promise.resolve(typeof rows === "string" ? rows : rows()),
    ...deps,
  });
}

/** `true`, or the uid and reason of who is not let in. */
function shown(user: LocalUser): unknown {
  return user.isTrusted || [user.uid, user.reason];
}

const UNLISTED = "cannot be traced to its user: the system lists no program that has it open";

for (
  const [name, rows, expected] of [
    ["the service's own user", row(ENDS), true],
    ["a client that has closed its half", row(ENDS, { state: "05" }), true],
    ["another user", row(ENDS, { uid: 33 }), [33, "belongs to uid 33"]],
    ["root, who is another user too", row(ENDS, { uid: 0 }), [0, "belongs to uid 0"]],
    ["a client that has gone, which shows root's uid", row(ENDS, { uid: 0, inode: 0 }), [
      undefined,
      UNLISTED,
    ]],
    ["a client that has gone, by its last uid", row(ENDS, { state: "05", inode: 0 }), [
      undefined,
      UNLISTED,
    ]],
    ["somebody who tries to connect from the same port", row(ENDS, { state: "02" }), [
      undefined,
      UNLISTED,
    ]],
    ["the same, beside the client", row(ENDS, { state: "02" }) + row(ENDS, { uid: 33 }), [
      33,
      "belongs to uid 33",
    ]],
    ["the service's own end", row("0100007F:2329 0100007F:D431"), [undefined, UNLISTED]],
    ["another port", row("0100007F:D431 0100007F:2328"), [undefined, UNLISTED]],
    [
      "a socket of IPv6 for the address of IPv4",
      row(
        "0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:2329",
        { uid: 33 },
      ),
      [33, "belongs to uid 33"],
    ],
    ["an empty table", "", [undefined, UNLISTED]],
  ] as [string, string, unknown][]
) {
  Deno.test(`userOf() judges ${name}`, async () => {
    assertEquals(shown(await usersOf(rows).userOf(CONNECTION)), expected);
  });
}

Deno.test("userOf() asks for the rows of both kinds of sockets, and takes a mapped address for what it is", async () => {
  const asked: (readonly string[])[] = [];
  const users = usersOf("", {
    readSockets: (texts) => {
      asked.push(texts);
      return Promise.resolve(row(ENDS));
    },
  });
  const mapped = { address: "::ffff:127.0.0.1", port: 0xd431 };
  assertEquals(shown(await users.userOf({ ...CONNECTION, remote: mapped })), true);
  const six = { remote: { address: "::1", port: 80 }, local: { address: "::1", port: 65_535 } };
  await users.userOf(six);
  assertEquals(asked.slice(0, 2), [[
    ` ${ENDS} `,
    " 0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:2329 ",
  ], [" 00000000000000000000000001000000:0050 00000000000000000000000001000000:FFFF "]]);
});

Deno.test("userOf() looks a second time where a row is missing", async () => {
  const readings = ["", row(ENDS)];
  const users = usersOf(() => readings.shift()!);
  assertEquals(shown(await users.userOf(CONNECTION)), true);
});

Deno.test("userOf() trusts listed uids, all with *, and all where the system does not tell", async () => {
  const rows = row(ENDS, { uid: 33 });
  const reads = { readSockets: () => Promise.reject(new Error("never read")) };
  assertEquals(shown(await usersOf(rows, { trusted: [7, 33] }).userOf(CONNECTION)), true);
  assertEquals(shown(await usersOf(rows, { trusted: [7] }).userOf(CONNECTION)), [
    33,
    "belongs to uid 33",
  ]);
  assertEquals(shown(await usersOf("", { trusted: ["*"], ...reads }).userOf(CONNECTION)), true);
  const lines: string[] = [];
  const log = { warning: (line: string) => void lines.push(line) };
  const elsewhere = usersOf("", { os: "darwin", log, ...reads });
  for (let time = 0; time < 2; time++) {
    assertEquals(shown(await elsewhere.userOf(CONNECTION)), true);
  }
  assertEquals(lines.length, 1);
  assertStringIncludes(lines[0]!, "Set api.apiKey");
});

Deno.test("userOf() takes the uid that stands for unknown users for nobody's unless it is listed", async () => {
  const rows = row(ENDS, { uid: 65_534 });
  const own = await usersOf(rows, { uid: 65_534 }).userOf(CONNECTION);
  assertEquals(shown(own), [65_534, "belongs to uid 65534"]);
  const listed = usersOf(rows, { uid: 65_534, trusted: [65_534] });
  assertEquals(shown(await listed.userOf(CONNECTION)), true);
});

Deno.test("userOf() refuses, with the reason, where the tables cannot be read, and reads again later", async () => {
  let fails = true;
  const users = usersOf("", {
    readSockets: () => fails ? Promise.reject(new Error("no /proc")) : Promise.resolve(row(ENDS)),
  });
  assertEquals(shown(await users.userOf(CONNECTION)), [
    undefined,
    "cannot be traced to its user: no /proc",
  ]);
  fails = false;
  assertEquals(shown(await users.userOf(CONNECTION)), true);
});

Deno.test("userOf() reads once for all who came while it was reading", async () => {
  const readings: { texts: readonly string[]; done: (rows: string) => void }[] = [];
  const users = usersOf("", {
    readSockets: (texts) => new Promise((done) => readings.push({ texts, done })),
  });
  const ask = (port: number) =>
    users.userOf({ ...CONNECTION, remote: { address: "127.0.0.1", port } });
  const first = ask(1);
  const others = Array.from({ length: 300 }, (_, at) => ask(at + 2));
  assertEquals(readings.map(({ texts }) => texts.length), [2]);
  // A reading that had begun before a connection was there does not count for it.
  for (let at = 0; at < 4; at++) {
    const { texts, done } = readings[at]!;
    done(texts.map((text) => row(text.trim())).join(""));
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals((await Promise.all([first, ...others])).every(({ isTrusted }) => isTrusted), true);
  assertEquals(readings.map(({ texts }) => texts.length / 2), [1, 128, 128, 44]);
});

Deno.test({
  ...needs(
    "openLocalUsers() knows its own connections over IPv4 and IPv6, and none that is not there",
    "Linux",
  ),
  async fn() {
    const users = openLocalUsers({ trusted: [], log: { warning: () => {} } });
    for (const hostname of ["127.0.0.1", "::1"]) {
      using listener = Deno.listen({ hostname, port: 0 });
      using client = await Deno.connect({ hostname, port: listener.addr.port });
      using _served = await listener.accept();
      const end = ({ hostname: address, port }: Deno.NetAddr) => ({ address, port });
      const remote = end(client.localAddr as Deno.NetAddr);
      const local = end(client.remoteAddr as Deno.NetAddr);
      assertEquals(shown(await users.userOf({ remote, local })), true, hostname);
      const nobody = await users.userOf({ remote: { ...remote, port: 1 }, local });
      assertStringIncludes(String(shown(nobody)), UNLISTED);
    }
  },
});
