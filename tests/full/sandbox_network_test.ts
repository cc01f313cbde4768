import { assert, assertEquals, assertMatch } from "@std/assert";
import { needs } from "../support/needs.ts";
import {
  type NetworkReport,
  type NetworkStep,
  run,
  runInWorld,
  WORLD_NEEDS,
} from "../support/network_steps.ts";

const CA =
  "export CURL_CA_BUNDLE=$PWD/ca.txt GIT_SSL_CAINFO=$PWD/ca.txt NODE_EXTRA_CA_CERTS=$PWD/ca.txt npm_config_cafile=$PWD/ca.txt\n";
const PLAIN = ["plain.example"];

function byName(report: NetworkReport): Map<string, NetworkReport["steps"][number]> {
  return new Map(report.steps.map((step) => [step.name, step]));
}

/** A repository with one commit, and a registry with one package. */
async function prepare(folder: string): Promise<void> {
  const source = `${folder}/source`;
  await Deno.mkdir(source);
  await Deno.writeTextFile(`${source}/README`, "from the repository\n");
  const git = ["-c", "user.name=t", "-c", "user.email=t@t.example"];
  await run("git", source, ["init", "-q", "-b", "main"]);
  await run("git", source, ["add", "README"]);
  await run("git", source, [...git, "commit", "-q", "-m", "x"]);
  await run("git", folder, ["clone", "-q", "--bare", source, "files/repo.git"]);
  await run("git", `${folder}/files/repo.git`, ["update-server-info"]);

  const tiny = { name: "tiny", version: "1.0.0", main: "index.js" };
  await Deno.mkdir(`${folder}/package`);
  await Deno.writeTextFile(`${folder}/package/package.json`, JSON.stringify(tiny));
  await Deno.writeTextFile(`${folder}/package/index.js`, 'module.exports = "from the registry";\n');
  await Deno.mkdir(`${folder}/files/npm`);
  await run("tar", folder, ["czf", "files/npm/tiny.tgz", "package"]);
  const bytes = await Deno.readFile(`${folder}/files/npm/tiny.tgz`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-512", bytes));
  const dist = {
    tarball: "https://plain.example/files/npm/tiny.tgz",
    integrity: `sha512-${btoa(String.fromCharCode(...digest))}`,
  };
  await Deno.writeTextFile(
    `${folder}/files/npm/tiny`,
    JSON.stringify({
      name: "tiny",
      "dist-tags": { latest: "1.0.0" },
      versions: { "1.0.0": { ...tiny, dist } },
    }),
  );
}

Deno.test(
  needs(
    "curl, git, npm and node reach an allowed host, through the proxy and without knowing it",
    ...WORLD_NEEDS,
    "curl",
    "git",
    "node",
    "npm",
    "tar",
  ),
  async () => {
    const node = (script: string) => `${CA}node -e '${script}'`;
    const steps: NetworkStep[] = [
      { name: "curl http", sh: "curl -sS http://plain.example/a", hosts: PLAIN },
      { name: "curl https", sh: `${CA}curl -sS https://plain.example/b`, hosts: PLAIN },
      { name: "curl post", sh: "curl -sS -d body http://plain.example/c", hosts: PLAIN },
      {
        name: "curl chunked",
        sh: "curl -sS -H 'Transfer-Encoding: chunked' -d body http://plain.example/d",
        hosts: PLAIN,
      },
      {
        name: "curl direct",
        sh: `${CA}curl -sS --noproxy '*' https://plain.example/e`,
        hosts: PLAIN,
      },
      {
        name: "curl port",
        sh: "curl -sS http://plain.example:8080/f",
        hosts: ["plain.example:8080"],
      },
      {
        name: "curl direct port",
        sh: "curl -sS --noproxy '*' http://plain.example:8080/g",
        hosts: ["plain.example:8080"],
      },
      { name: "curl pattern", sh: "curl -sS http://plain.example/h", hosts: ["*.example"] },
      {
        name: "git",
        sh: `${CA}git clone -q https://plain.example/files/repo.git cloned && cat cloned/README`,
        hosts: ["plain.example:443"],
      },
      {
        name: "npm",
        sh:
          `${CA}npm install tiny --registry=https://plain.example/files/npm/ --no-audit --no-fund ` +
          `--no-update-notifier && node -p 'require("tiny")'`,
        hosts: ["plain.example:443"],
      },
      {
        name: "node fetch",
        sh: node(`fetch("https://plain.example/i").then((r) => r.text()).then(console.log)`),
        hosts: PLAIN,
      },
      {
        name: "node https",
        sh: node(`require("https").get("https://plain.example/j", (r) => r.pipe(process.stdout))`),
        hosts: PLAIN,
      },
      {
        name: "node http",
        sh: node(`require("http").get("http://plain.example/k", (r) => r.pipe(process.stdout))`),
        hosts: PLAIN,
      },
    ];
    const report = await runInWorld(steps, prepare);
    for (const step of report.steps) {
      assert(step.end.type === "exited" && step.end.code === 0, JSON.stringify(step));
      assertEquals(step.records.map(({ host, effect }) => [host, effect]), [[
        "plain.example",
        "allow",
      ]]);
      assertEquals(step.isSocketLeft, false);
    }
    const said = byName(report);
    const output = (name: string) => said.get(name)!.output;
    assertMatch(output("curl http"), /^answer of 93\.184\.216\.34:80 to GET plain\.example: \n$/);
    assertMatch(output("curl https"), /^answer of tls to GET plain\.example: \n$/);
    assertMatch(output("curl post"), /to POST plain\.example: body\n$/);
    assertMatch(output("curl chunked"), /to POST plain\.example: body\n$/);
    assertMatch(output("curl direct"), /^answer of tls/);
    assertMatch(output("curl port"), /:8080 to GET plain\.example:8080/);
    assertMatch(output("curl direct port"), /:8080 to GET plain\.example:8080/);
    assertEquals(output("git"), "from the repository\n");
    assertMatch(output("npm"), /added 1 package[^]*from the registry\n$/);
    for (const name of ["node fetch", "node https"]) assertMatch(output(name), /^answer of tls/);
    assertMatch(output("node http"), /^answer of 93\.184\.216\.34:80/);
  },
);
