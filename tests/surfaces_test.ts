import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../cli/commands.ts";
import { scopesOf } from "../lib/http/web/web_route.ts";
import { inertRoutes } from "../lib/http/web/openapi/inert_routes.ts";
import { webOpenApiDocument } from "../lib/http/web/openapi/document.ts";
import {
  findGatewayOperation,
  findOperation,
  GATEWAY_OPERATIONS,
  OPERATIONS,
} from "../lib/operations/operations.ts";
import { openOperatorState } from "../lib/state/operator_state.ts";
import { makeHome, type TestHome } from "./support/home.ts";

const names = [...Object.keys(OPERATIONS), ...Object.keys(GATEWAY_OPERATIONS)];

Deno.test("each operation is one route, one entry of OpenAPI and one command that exists", async () => {
  const routes = inertRoutes();
  const { paths } = webOpenApiDocument({ routes, version: "1.2.3" });
  for (const name of names) {
    const { route, scope, summary, command } = (findOperation(name) ?? findGatewayOperation(name))!;
    if (route !== undefined && scope !== "gateway") {
      const { method, path } = route;
      const mounted = routes.filter((each) => each.method === method && each.path === path);
      assertEquals(
        mounted.map((each) => [scopesOf(each), each.summary]),
        [[[scope], summary]],
        name,
      );
      const entry = paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
      assertEquals([entry?.summary, entry?.security], [summary, [{ bearer: [scope] }]], name);
    }
    if (command !== undefined) await assertCommand(command);
  }
});

async function assertCommand(command: string): Promise<void> {
  const [name, subcommand] = command.split(" ");
  const entry = COMMANDS.find((each) => each.name === name);
  assert(entry !== undefined, command);
  const { default: { subcommands = [] } } = await entry.load();
  assert(subcommand === undefined || subcommands.some((each) => each.name === subcommand), command);
}

/** What a command prints with --json, a value each line. */
async function printed(home: TestHome, args: string[], env = {}): Promise<unknown[]> {
  const { code, stdout, stderr } = await home.run([...args, "--json"], { env });
  assertEquals(code, 0, stderr);
  return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

Deno.test("a command prints what the route of its operation answers", async () => {
  await using home = await makeHome();
  await home.configure({ channels: { websocket: { enabled: true, port: 0 } } });
  const [issued] = await printed(home, ["tokens", "issue", "--scopes", "operate"]);
  const { token } = issued as { token: string };
  await home.run(["secrets", "set", "API", "--host", "a.example"], { stdin: "hunter2-hunter2\n" });
  const dir = `${home.dir}/home`;
  const state = await openOperatorState({ dir: `${dir}/operator`, keysDir: `${dir}/keys` });
  await state.latches.set({ sessionKey: "cli:a", capability: "exec", reason: "no" });
  await state.close();

  await using service = await home.start(["gateway", "--json"]);
  const get = async (path: string) => {
    const url = new URL(`/api/webui/${path}`, service.wsUrl.replace(/^ws/, "http"));
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    assertEquals(response.status, 200, path);
    return await response.json();
  };
  const env = { SERVICE_APPROVER_TOKEN: token };
  const { secrets } = await get("secrets");
  assertEquals([secrets.length, await printed(home, ["secrets", "list"])], [1, secrets]);
  const { latches } = await get("latches");
  assertEquals([latches.length, await printed(home, ["blocks", "list"])], [1, latches]);
  const { approvals } = await get("approvals");
  assertEquals(await printed(home, ["approvals", "list"], env), approvals);
  const every = ["automations", "create", "-m", "News?", "--every", "1h"];
  const [made] = await printed(home, every) as { id: string }[];
  assertEquals(await get(`automations/${made!.id}`), made);
  assertEquals(
    await printed(home, ["automations", "list"]),
    (await get("automations")).automations,
  );
  assertEquals(await printed(home, ["automations", "show", made!.id]), [made]);
  const [cleared] = await printed(home, ["blocks", "clear", "a", "exec"]);
  assertEquals(cleared, { session: "cli:a", capability: "exec", cleared: true });
  assertEquals((await get("latches")).latches, []);
  const [removed] = await printed(home, ["secrets", "rm", "API"]);
  assertEquals(removed, { name: "API", removed: true, keys: [], restart: [], problems: [] });
  assertEquals((await get("secrets")).secrets, []);
});
