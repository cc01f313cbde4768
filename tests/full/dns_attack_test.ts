import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs, programPath } from "../support/needs.ts";
import { PUBLIC_ADDRESS, type WorldReport } from "../support/own_network_names.ts";
import { lockedFlags } from "../../lib/packages/locked_packages.ts";

/** Fetches URLs one after the other on a machine whose names and addresses are the test's own. */
async function fetchInside(urls: string[]): Promise<WorldReport> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/resolv.conf`, "nameserver 127.0.0.1\n");
    await Deno.writeTextFile(`${folder}/hosts`, "127.0.0.1 localhost\n");
    const script = new URL("../support/own_network.ts", import.meta.url).pathname;
    const { code, stdout, stderr } = await new Deno.Command(programPath("bubblewrap"), {
      args: [
        ...["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--die-with-parent"],
        ...["--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_NET_BIND_SERVICE"],
        ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev"],
        ...["--ro-bind", `${folder}/resolv.conf`, "/etc/resolv.conf"],
        ...["--ro-bind", `${folder}/hosts`, "/etc/hosts"],
        "/bin/sh",
        "-c",
        `${programPath("ip")} addr add ${PUBLIC_ADDRESS}/32 dev lo && exec "$@"`,
        "sh",
        ...[Deno.execPath(), "run", "-A", "-q", "--cached-only", ...lockedFlags(), script, ...urls],
      ],
    }).output();
    const text = new TextDecoder();
    assertEquals(code, 0, text.decode(stderr));
    return JSON.parse(text.decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  ...needs(
    "web_fetch stays with the addresses that were judged, whatever a name answers next",
    "bubblewrap",
    "ip",
  ),
  async fn() {
    const report = await fetchInside([
      "http://plain.example/",
      // Public for the look-up that is judged, loopback for every later one.
      "http://rebind.example/",
      "http://rebind.example/again",
      // A redirect is judged with the addresses that the name has by then.
      "http://plain.example/?to=http%3A%2F%2Frebind.example%2F",
    ]);
    const [plain, first, again, redirected] = report.fetches;
    assertEquals([plain!.status, plain!.reached], ["ok", [PUBLIC_ADDRESS]], plain!.output);
    assertEquals([first!.status, first!.reached], ["ok", [PUBLIC_ADDRESS]], first!.output);
    assertEquals(
      report.asked.filter((question) => question === "rebind.example/A").length,
      3,
      "one look-up a judgement, and none by the child that fetches",
    );
    assertEquals([again!.status, again!.reached], ["refused", []]);
    assertStringIncludes(again!.output, "rule fetch.private");
    assertEquals([redirected!.status, redirected!.reached], ["refused", [PUBLIC_ADDRESS]]);
  },
});

Deno.test({
  ...needs(
    "web_fetch is refused when any address of a name is not public, in every form of it",
    "bubblewrap",
    "ip",
  ),
  async fn() {
    const names = [
      "inner",
      "mixed",
      "mixed6",
      "metadata",
      "zero",
      "shared",
      "broadcast",
      "mapped",
      "mapped-metadata",
      "link",
      "unique",
      "nat64",
      "sixtofour",
      "any6",
    ];
    const report = await fetchInside([
      ...names.map((name) => `http://${name}.example/`),
      "http://nothing.example/",
    ]);
    for (const { url, status, output, reached } of report.fetches) {
      assertEquals([url, status, reached], [url, "refused", []], output);
    }
    const rules = report.fetches.map(({ output }) => /rule ([\w.]+)/.exec(output)?.[1]);
    assertEquals(rules, [...names.map(() => "fetch.private"), "unresolved"]);
  },
});

Deno.test({
  ...needs(
    "web_fetch follows no redirect from a public server to what is not public",
    "bubblewrap",
    "ip",
  ),
  async fn() {
    const targets = [
      "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
      "http://[fd00:ec2::254]/latest/meta-data/",
      "http://metadata.example/computeMetadata/v1/",
      "http://127.0.0.1/",
      "http://0/",
      "http://0x7f.1/",
      "http://[::ffff:127.0.0.1]/",
      "http://inner.example/",
      "//inner.example/",
      "http://plain.example@127.0.0.1/",
      "http://127.0.0.1#@plain.example/",
      "http://127.0.0.1\\@plain.example/",
      "file:///etc/passwd",
      "gopher://127.0.0.1/",
      "data:text/plain,x",
      // Nobody named this one; the query of its name alone would carry something out.
      "http://what-was-read.attacker.example/",
    ];
    const report = await fetchInside(
      targets.map((to) => `http://plain.example/?to=${encodeURIComponent(to)}`),
    );
    for (const { url, status, output, reached } of report.fetches) {
      assertEquals([url, status, reached], [url, "refused", [PUBLIC_ADDRESS]], output);
    }
    assert(report.asked.every((question) => !question.includes("attacker")));
  },
});
