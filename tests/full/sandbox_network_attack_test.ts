import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { needs } from "../support/needs.ts";
import { ADDRESSES } from "../support/own_network_names.ts";
import {
  type NetworkReport,
  type NetworkStep,
  runInWorld,
  WORLD_NEEDS,
} from "../support/network_steps.ts";

/** Every host that there is, and every pattern that could mean one. */
const EVERYTHING = [
  "*.example",
  "*.localhost",
  "localhost",
  "127.0.0.1",
  "127.0.0.1:8900",
  "[::1]",
  "[::1]:8900",
  "0.0.0.0",
  "169.254.169.254",
  "[fd00:ec2::254]",
  "metadata.google.internal",
  "*.internal",
  "*.com",
  ...Object.keys(ADDRESSES).flatMap((name) => [name, `${name}:8900`, `${name}:22`]),
];

function testInWorld(name: string, fn: () => Promise<void>): void {
  Deno.test({ ...needs(name, ...WORLD_NEEDS, "curl"), fn });
}

function only(report: NetworkReport): NetworkReport["steps"][number] {
  assertEquals(report.steps.length, 1);
  return report.steps[0]!;
}

/** Tries URLs one by one through the proxy, and says of each what came. */
const tryUrls = (urls: readonly string[]) =>
  urls.map((url) =>
    `printf '%s ' '${url}'; curl -sS -m 5 -p -o out -w '%{http_connect} ' '${url}' 2>&1; ` +
    `cat out 2> /dev/null; rm -f out; echo`
  ).join("\n");

testInWorld("a host that is not allowed is not reached, nor ever looked up", async () => {
  const steps: NetworkStep[] = [{
    name: "other",
    hosts: ["plain.example:443"],
    sh: `${tryUrls(["http://rebind.example/", "https://what-was-read.attacker.example/"])}
      curl -sS --noproxy '*' http://rebind.example/ 2>&1
      curl -sS --noproxy '*' http://93.184.216.34/ 2>&1
      # The right host at other ports.
      ${
      tryUrls(["http://plain.example/", "http://plain.example:8080/", "http://plain.example:22/"])
    }
      ${tryUrls(["http://93.184.216.34:443/"])}`,
  }];
  const step = only(await runInWorld(steps));
  assertEquals([step.reached, step.asked], [[], []], step.output);
  assertEquals(step.output.match(/^403 /gm)?.length, 6, step.output);
  assertStringIncludes(step.output, "Could not resolve host: rebind.example");
  assertEquals(step.records.map(({ host, effect, rule }) => `${host} ${effect} ${rule}`), [
    "rebind.example deny network.unlisted",
    "what-was-read.attacker.example deny network.unlisted",
    "plain.example deny network.unlisted",
    "93.184.216.34 deny network.unlisted",
  ]);
});

testInWorld(
  "with every host allowed neither loopback, nor the API, nor its socket, nor a private address is reached",
  async () => {
    const names = Object.keys(ADDRESSES)
      .filter((name) => !["plain.example", "rebind.example", "nothing.example"].includes(name));
    const literals = [
      "127.0.0.1",
      "127.1",
      "127.0.1",
      "0x7f.1",
      "0x7f000001",
      "2130706433",
      "0177.0.0.1",
      "017700000001",
      "127.0.0.1.",
      "0",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[0:0:0:0:0:0:0:1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "169.254.169.254",
      "0xa9.254.169.254",
      "[::ffff:169.254.169.254]",
      "[fd00:ec2::254]",
      "[fe80::1]",
      "localhost",
      "x.localhost",
      "LOCALHOST.",
    ];
    const urls = [...names, ...literals].flatMap((
      host,
    ) => [`http://${host}/`, `http://${host}:8900/`]);
    const steps: NetworkStep[] = [
      {
        name: "names",
        hosts: EVERYTHING,
        timeoutMs: 60_000,
        sh: `unset no_proxy NO_PROXY; ${tryUrls(urls)}`,
      },
      {
        name: "direct",
        hosts: EVERYTHING,
        sh:
          `for url in http://127.0.0.1/ http://127.0.0.1:8900/ http://localhost:8900/ http://[::1]:8900/; do
          curl -sS -m 5 --noproxy '*' "$url" 2>&1
        done
        for socket in $(find /run /tmp -type s 2> /dev/null) /run/service.sock; do
          echo "socket $socket"; curl -sS -m 5 --noproxy '*' --unix-socket "$socket" http://x/ 2>&1
        done
        ls -A /run/network/proxy/..`,
      },
      {
        // Listed by the operator, and still not the service's own port.
        name: "listed",
        hosts: [...EVERYTHING, "localhost:8900"],
        privateHosts: ["127.0.0.1", "inner.example", "::1", "localhost", "plain.example"],
        sh: tryUrls([
          "http://inner.example:8900/",
          "http://localhost:8900/v1/models",
          // At the machine's own public address too.
          "http://plain.example:8900/",
        ]).replaceAll("curl", "curl --noproxy x"),
      },
    ];
    const report = await runInWorld(steps);
    const [all, direct, listed] = report.steps;
    assertEquals(all!.reached, [], all!.output);
    const answers = all!.output.trim().split("\n").filter((line) => line.startsWith("http"));
    assertEquals(answers.length, urls.length);
    for (const line of answers) assertMatch(line, / (?:403|400|502) |curl: /, line);
    for (const { host, effect } of all!.records) assertEquals(effect, "deny", String(host));
    assertEquals(direct!.reached, [], direct!.output);
    assertEquals(direct!.output.match(/^socket \/run\/network\/proxy\/proxy\.sock$/gm)?.length, 1);
    assertEquals(listed!.reached, [], listed!.output);
    assertEquals(
      listed!.records.map(({ rule }) => rule),
      ["network.own", "network.own", "network.own"],
    );
  },
);

testInWorld(
  "a name that answers publicly first and privately afterwards is refused the second time",
  async () => {
    const step = only(
      await runInWorld([{
        name: "rebind",
        hosts: EVERYTHING,
        sh: `for round in 1 2 3; do curl -sS -m 5 -p http://rebind.example/$round 2>&1; done`,
      }]),
    );
    assertEquals(step.reached, ["93.184.216.34:80 rebind.example/1"]);
    assertEquals(step.output.match(/403/g)?.length, 2, step.output);
    // One look-up a connection, and none after it was judged.
    assertEquals(step.asked.filter((question) => question === "rebind.example/A").length, 3);
    assertEquals(step.records.map(({ effect, rule }) => `${effect} ${rule}`), [
      "allow network.hosts",
      "deny network.private",
    ]);
  },
);

testInWorld(
  "requests that could be read in two ways are refused, at the relay and at the socket",
  async () => {
    const script = `
    const net = require("net");
    const send = (path, text) => new Promise((resolve) => {
      const socket = path.includes("/") ? net.connect(path) : net.connect(3128, path);
      let said = "";
      socket.on("data", (bytes) => said += bytes);
      socket.on("error", () => {});
      socket.on("close", () => resolve(said.split("\\r\\n")[0] || "closed"));
      socket.on("connect", () => socket.write(text));
      socket.setTimeout(15000, () => socket.destroy());
    });
    const proxy = "/run/network/proxy/proxy.sock", relay = "127.0.1.1";
    const good = "CONNECT plain.example:80 HTTP/1.1\\r\\n\\r\\n";
    const bad = [
      good + good,
      good + "GET / HTTP/1.1\\r\\n\\r\\n",
      "CONNECT plain.example:80 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nX",
      "CONNECT plain.example:80\\r\\nX: HTTP/1.1\\r\\n\\r\\n",
      "CONNECT plain.example:80 HTTP/1.1 CONNECT inner.example:80 HTTP/1.1\\r\\n\\r\\n",
      "CONNECT plain.example\\0.inner.example:80 HTTP/1.1\\r\\n\\r\\n",
      "CONNECT plain.example:80@inner.example:80 HTTP/1.1\\r\\n\\r\\n",
      "CONNECT inner.example#.plain.example:80 HTTP/1.1\\r\\n\\r\\n",
      "CONNECT plain.example:65616 HTTP/1.1\\r\\n\\r\\n",
      "CONNECT " + "a".repeat(600) + ".example:80 HTTP/1.1\\r\\n\\r\\n",
      "GET /etc/passwd HTTP/1.1\\r\\n\\r\\n",
      "\\r\\n\\r\\n",
      "\\0".repeat(100) + "\\r\\n\\r\\n",
    ];
    (async () => {
      for (const text of bad) console.log(await send(proxy, text), "|", await send(relay, text));
      console.log(await send(proxy, "x".repeat(100000)), "|", await send(relay, "x".repeat(200000)));
      console.log(await send(relay, "GET http://plain.example/ HTTP/1.1\\r\\nContent-Length: 4\\r\\n" +
        "Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n"));
      // The second request of a connection goes to nobody.
      console.log(await send(relay, "GET http://plain.example/first HTTP/1.1\\r\\n\\r\\n" +
        "GET http://plain.example/second HTTP/1.1\\r\\n\\r\\n"));
    })();`;
    const sh = `cat > probe.js <<'END'\n${script}\nEND\nnode probe.js`;
    const step = only(
      await runInWorld([{ name: "lines", hosts: EVERYTHING, sh, timeoutMs: 60_000 }]),
    );
    const lines = step.output.trim().split("\n");
    assertEquals(lines.length, 16, step.output);
    for (const line of lines.slice(0, 14)) {
      for (const answer of line.split(" | ")) {
        assertMatch(
          answer,
          /^(HTTP\/1\.1 4\d\d |closed)/,
          line,
        );
      }
    }
    assertMatch(lines[14]!, /^HTTP\/1\.1 400 /);
    assertEquals(step.reached.filter((request) => !request.endsWith("/first")), []);
  },
);

testInWorld("a flood of connections is bounded, and those above the bound are told", async () => {
  const script = `
    const net = require("net");
    let held = 0, refused = 0;
    const sockets = Array.from({ length: 120 }, () => {
      const socket = net.connect(3128, "127.0.1.1");
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        const text = String(bytes);
        if (text.startsWith("HTTP/1.1 503")) refused++;
        if (text.includes("held")) held++;
        if (held + refused === 120) { console.log(held, refused); process.exit(); }
      });
      socket.write("CONNECT plain.example:9000 HTTP/1.1\\r\\n\\r\\n");
      return socket;
    });`;
  const sh = `cat > flood.js <<'END'\n${script}\nEND
    node flood.js
    for again in 1 2 3 4 5 6 7 8 9; do
      out=$(node flood.js); [ "$out" = "64 56" ] && break; sleep 0.3
    done
    echo "$out"`;
  const step = only(await runInWorld([{ name: "flood", hosts: ["plain.example:9000"], sh }]));
  // Places are given back, a moment after their connections are gone: a later flood gets as far.
  assertEquals(step.output, "64 56\n64 56\n");
  assertEquals([step.mostHeld, step.records.length], [64, 1]);
});

testInWorld("a reader that takes nothing holds up the sender, not memory", async () => {
  const script = `
    const net = require("net");
    const socket = net.connect(9001, "plain.example");
    socket.once("data", () => {
      socket.pause();
      setTimeout(() => process.exit(), 1500);
    });`;
  const sh = `cat > slow.js <<'END'\n${script}\nEND\nnode slow.js`;
  const report = await runInWorld([{ name: "slow", hosts: ["plain.example:9001"], sh }]);
  assert(report.steps[0]!.end.type === "exited", JSON.stringify(report));
  // What the kernel's buffers of three connections take, and no second's worth of a sender at full speed.
  assert(report.poured > 0 && report.poured < 32 * 1024 * 1024, `${report.poured} bytes`);
});

testInWorld("what a command leaves behind has no network, and no other command's", async () => {
  const look = `sleep 0.5; curl -sS -m 5 http://plain.example/mine 2>&1
    find / -name '*.sock' 2> /dev/null; ls -A /run/network /tmp /run 2>&1`;
  const report = await runInWorld([
    {
      name: "first",
      hosts: ["plain.example:80"],
      sh:
        `(setsid sh -c 'sleep 1; curl -sS http://plain.example/late' > /dev/null 2>&1 &)\necho done`,
    },
    // Longer than what the first left would have waited.
    {
      name: "second",
      hosts: ["plain.example:8080"],
      sh: `sleep 1.5; ${look}`,
      beside: { name: "beside", hosts: ["plain.example:80"], sh: "sleep 2" },
    },
  ]);
  const [first, second] = report.steps;
  assertEquals([first!.output, first!.reached, first!.isSocketLeft], ["done\n", [], false]);
  assertEquals(second!.reached, [], second!.output);
  assertEquals(second!.output.match(/\.sock/g)?.length, 1, second!.output);
  assertMatch(second!.output, /rule network\.unlisted/);
});

testInWorld("connections that idle or stay half open are ended", async () => {
  const wait = (text: string) => `
    const net = require("net");
    const socket = net.connect({ port: 9000, host: "plain.example", allowHalfOpen: true });
    socket.once("data", () => { ${text} });
    socket.on("error", () => {});
    const from = Date.now();
    socket.on("close", () => console.log("closed"));
    socket.on("end", () => socket.end());`;
  const sh = (text: string) => `cat > wait.js <<'END'\n${wait(text)}\nEND\nnode wait.js`;
  const report = await runInWorld([
    { name: "idle", hosts: ["plain.example:9000"], sh: sh(""), limits: { idleMs: 300 } },
    {
      name: "slow head",
      hosts: ["plain.example:9000"],
      limits: { headMs: 300 },
      sh: `node -e 'const s = require("net").connect("/run/network/proxy/proxy.sock");
        s.write("CONNECT plain"); s.on("data", (b) => console.log(String(b).split("\\r\\n")[0]));
        s.on("close", () => console.log("closed"))'`,
    },
  ]);
  for (const step of report.steps) {
    assert(step.end.type === "exited", JSON.stringify(step));
    assertMatch(step.output, /closed\n$/);
  }
  assertMatch(report.steps[1]!.output, /^HTTP\/1\.1 408 /);
});
