import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { makeHome } from "../support/home.ts";
import { needs, programPath } from "../support/needs.ts";
import { httpOf } from "../support/wire_socket.ts";

/** A user of this machine who is neither root nor anybody else. */
const OTHER = 54_321;

/** What a program of that user is answered: status and body. */
async function askAs(uid: number, url: string, ...args: string[]) {
  const { stdout, stderr } = await new Deno.Command(programPath("curl"), {
    args: ["-sS", "-m", "30", "-w", "\n%{http_code}", ...args, url],
    uid,
    gid: uid,
    cwd: "/",
    clearEnv: true,
  }).output();
  const text = new TextDecoder().decode(stdout);
  const cut = text.lastIndexOf("\n");
  if (cut === -1) throw new Error(new TextDecoder().decode(stderr));
  return { status: Number(text.slice(cut + 1)), body: text.slice(0, cut) };
}

const CHAT = [
  "-H",
  "content-type: application/json",
  "-d",
  '{"messages":[{"role":"user","content":"hi"}]}',
];

Deno.test({
  ...needs(
    "another user of the machine gets no token and no turn over loopback",
    "Linux",
    "root",
    "curl",
  ),
  async fn() {
    await using home = await makeHome({ api: { enabled: true, port: 0 } });
    await using gateway = await home.start(["gateway", "--json"]);
    const { apiUrl } = gateway;
    const bootstrap = new URL("/webui/bootstrap", httpOf(gateway.wsUrl));
    const mapped = (url: string | URL) => String(url).replace("127.0.0.1", "[::ffff:127.0.0.1]");
    const local = ["-H", "Host: localhost"];
    const attacks: [url: string, ...args: string[]][] = [
      [bootstrap.href],
      [bootstrap.href, ...local],
      [mapped(bootstrap), ...local],
      [bootstrap.href, "--interface", "127.0.0.2"],
      [`${apiUrl}/v1/chat/completions`, ...CHAT],
      [mapped(`${apiUrl}/v1/chat/completions`), ...local, ...CHAT],
      [`${apiUrl}/v1/responses`, "-H", "content-type: application/json", "-d", '{"input":"hi"}'],
      [`${apiUrl}/v1/models`],
      [`${apiUrl}/ready`],
    ];
    for (const [url, ...args] of attacks) {
      const { status, body } = await askAs(OTHER, url, ...args);
      assertEquals([status, JSON.parse(body).error.code], [403, "forbidden_user"], url);
      assertStringIncludes(body, `uid ${OTHER}`);
      assertStringIncludes(body, "gates.trustedUids");
      assertEquals(/s[wa]t_/.test(body), false);
    }
    // Neither who reads along, nor who has the service's own user, needs anything.
    assertEquals((await askAs(OTHER, `${apiUrl}/health`)).status, 200);
    for (const [url, ...args] of attacks) {
      assertEquals((await askAs(0, url, ...args)).status, 200, url);
    }
    assertMatch((await askAs(0, bootstrap.href)).body, /"api_token":"sat_/);
  },
});

Deno.test({
  ...needs(
    "another user of the machine is let in with a key, or when its uid is trusted",
    "Linux",
    "root",
    "curl",
  ),
  async fn() {
    await using home = await makeHome({
      api: { enabled: true, port: 0 },
      gates: { trustedUids: [OTHER] },
    });
    {
      await using gateway = await home.start(["gateway", "--json"]);
      const bootstrap = new URL("/webui/bootstrap", httpOf(gateway.wsUrl)).href;
      const chat = `${gateway.apiUrl}/v1/chat/completions`;
      assertEquals((await askAs(OTHER, bootstrap)).status, 200);
      assertEquals((await askAs(OTHER, chat, ...CHAT)).status, 200);
      assertEquals((await askAs(OTHER + 1, bootstrap)).status, 403);
      assertEquals((await askAs(OTHER + 1, chat, ...CHAT)).status, 403);
    }
    await home.configure({
      api: { enabled: true, port: 0, apiKey: "the-key-of-the-api" },
      channels: { websocket: { tokenIssueSecret: "the-secret-of-the-port" } },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    const bootstrap = new URL("/webui/bootstrap", httpOf(gateway.wsUrl)).href;
    const chat = `${gateway.apiUrl}/v1/chat/completions`;
    const bearer = (secret: string) => ["-H", `Authorization: Bearer ${secret}`];
    assertEquals((await askAs(OTHER, bootstrap)).status, 401);
    assertEquals((await askAs(OTHER, bootstrap, ...bearer("the-secret-of-the-port"))).status, 200);
    assertEquals((await askAs(OTHER, chat, ...CHAT)).status, 401);
    assertEquals((await askAs(OTHER, chat, ...CHAT, ...bearer("the-key-of-the-api"))).status, 200);
  },
});
