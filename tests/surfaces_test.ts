import {
  assert,
  assertEquals,
  assertMatch,
  assertObjectMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { z } from "zod";
import type { SubcommandSpec } from "../cli/command.ts";
import { COMMANDS } from "../cli/commands.ts";
import { COMMAND_NAMES } from "../lib/agent/chat_commands.ts";
import { ServiceError } from "../lib/base/errors.ts";
import { scopesOf } from "../lib/http/web/web_route.ts";
import { inertRoutes } from "../lib/http/web/openapi/inert_routes.ts";
import { webOpenApiDocument } from "../lib/http/web/openapi/document.ts";
import { TOOLS } from "../lib/mcp/serve/create_agent_server.ts";
import { operationCommands } from "../lib/operations/chat_commands.ts";
import {
  findGatewayOperation,
  findOperation,
  GATEWAY_OPERATIONS,
  HOME_OPERATIONS,
  OPERATIONS,
} from "../lib/operations/operations.ts";
import type { OperationHead } from "../lib/operations/operation.ts";
import { createOperations } from "../lib/process/service/operations.ts";
import { openOperatorState } from "../lib/state/operator_state.ts";
import { makeHome, type TestHome } from "./support/home.ts";

const names = [...Object.keys(OPERATIONS), ...Object.keys(GATEWAY_OPERATIONS)];

const operationOf = (name: string) => (findOperation(name) ?? findGatewayOperation(name))!;

/** All that a command may do. */
const COMMANDABLE: Readonly<Record<string, Pick<OperationHead, "input" | "summary" | "command">>> =
  {
    ...OPERATIONS,
    ...GATEWAY_OPERATIONS,
    ...HOME_OPERATIONS,
  };

Deno.test("each operation is one route, one entry of OpenAPI and one command that exists", async () => {
  const routes = inertRoutes();
  const { paths } = webOpenApiDocument({ routes, version: "1.2.3" });
  for (const name of names) {
    const { route, scope, summary } = operationOf(name);
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
  }
  for (const { command } of Object.values(COMMANDABLE)) {
    if (command !== undefined) await findCommand(command);
  }
});

Deno.test("each operation that names a tool of our MCP server or a command of chats is one", () => {
  const tools = TOOLS.filter(({ name }) => name !== "ask");
  const commands = operationCommands(() => Promise.reject(new Error("nobody asks")));
  const named = names.map(operationOf);
  const of = (field: "mcpTool" | "chatCommand") => named.filter((each) => each[field]);
  assertEquals(
    tools.map(({ name, description, args }) => [name, description, fieldsOf(args)]),
    of("mcpTool").map(({ mcpTool, summary, input }) => [
      mcpTool,
      `${summary}.`,
      // A client knows a session as `ask` names it.
      fieldsOf(input).map((field) => field === "key" ? "session_id" : field),
    ]),
  );
  assertEquals(
    commands.map(({ name, summary, args }) => [name, summary, args!.toLowerCase().split(" ")]),
    of("chatCommand").map(({ chatCommand, summary, input }) => [
      chatCommand,
      summary,
      Object.entries<z.ZodType>(input.shape)
        .map(([field, type]) => type.safeParse(undefined).success ? `[${field}]` : field),
    ]),
  );
  // What a message is compared with, before the table is loaded.
  const known = new Set(COMMAND_NAMES);
  assertEquals(commands.filter(({ name }) => !known.has(name)), []);
});

function fieldsOf(schema: z.ZodType): string[] {
  return Object.keys((schema as z.ZodObject).shape);
}

Deno.test("each operation is answered over the local socket, but those of the gateway's own word", async () => {
  const passedOn: string[] = [];
  const operations = createOperations({
    operate({ op }: { op: string }) {
      passedOn.push(op);
      return Promise.resolve();
    },
  } as never);
  const { signal } = new AbortController();
  for (const name of names) {
    const answer = operations.operate({ request: { op: name } }, signal);
    if (operationOf(name).scope === "gateway") {
      await assertRejects(() => answer, ServiceError, "Only the service itself asks");
    } else {
      // What it takes and works on is missing here.
      await answer.catch(({ message }) => assert(!message.includes("Unknown operation"), name));
    }
  }
  const ofAuthority = Object.keys(OPERATIONS).filter((name) =>
    operationOf(name).scope !== "gateway"
  );
  assertEquals(passedOn, ofAuthority);
});

Deno.test("each surface of an operation stands in the docs", async () => {
  const read = (page: string) => Deno.readTextFile(new URL(`../docs/${page}`, import.meta.url));
  const [web, cli, mcp, http] = await Promise.all(
    ["web-api.md", "cli.md", "mcp-server.md", "http-api.md"].map(read),
  );
  for (const name of names) {
    const { route, scope, command, mcpTool, chatCommand } = operationOf(name);
    const path = route?.path.replaceAll(/:(\w+)/g, "{$1}");
    if (route !== undefined && scope !== "gateway") {
      const row = web!.split("\n").find((line) =>
        line.startsWith(`| ${route.method.padEnd(6)} | \`${path}\` `)
      );
      assertStringIncludes(row ?? "", command === undefined ? scope : `\`service ${command}\``);
    }
    const [first, subcommand] = command?.split(" ") ?? [];
    if (first !== undefined) assertStringIncludes(cli!, `### service ${first}`);
    if (subcommand !== undefined) assertMatch(cli!, new RegExp(`^\\| \`${subcommand}[\` ]`, "m"));
    if (mcpTool !== undefined) assertStringIncludes(mcp!, `| \`${mcpTool}\` `);
    if (chatCommand !== undefined) assertStringIncludes(http!, `\`/${chatCommand}\``);
  }
});

/** What the command says of itself. `--option` behind it is one of its own. */
async function findCommand(command: string): Promise<SubcommandSpec | undefined> {
  const [name, subcommand, option] = command.split(" ");
  const entry = COMMANDS.find((each) => each.name === name);
  assert(entry !== undefined, command);
  const { default: { subcommands = [], args, options } } = await entry.load();
  if (subcommand === undefined) {
    return { name: name!, summary: entry.summary, args, options };
  }
  const found = subcommands.find((each) => each.name === subcommand);
  assert(subcommand === undefined || found !== undefined, command);
  const isKnown = found?.options?.some((each) => `--${each.name}` === option);
  assert(option === undefined || isKnown, command);
  return found;
}

/** Commands of another form than their operation, and why. */
const OWN_FORM: Readonly<Record<string, string>> = {
  "channels login": "asks for what the channel wants to know",
  "config get": "takes a key",
  "config set": "takes a key and its value",
  "logs": "reads the file, also of a service that ended",
  "onboard": "asks for what it isn't given, and also makes a workspace",
  "permissions": "tells of every process, by the configuration",
  "plugins enable": "also switches the HTTP API, and checks settings first",
  "plugins disable": "also switches the HTTP API",
  "sessions replay": "runs what it is answered, or a file",
  "status": "also tells that no service runs, and why",
};

/** Fields that are not typed as they are, and why. */
const NOT_TYPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "audit list": { before: "--until, or a larger --limit" },
  "automations list": { limit: "every page is printed", after: "every page is printed" },
  "channels missed": { limit: "every page is printed", after: "every page is printed" },
  "channels missed --answer": { id: "the option's own value" },
  "plugins list": { locale: "no labels are printed" },
  "sessions fork": {
    before_user_index: "--before",
    chat_id: "a whole key names any session",
    new_key: "--as",
  },
  "sessions search": { q: "TEXT" },
  "secrets set": {
    value: "asked for, or read from standard input",
    hosts: "one each --host",
    commands: "one each --command",
  },
  "tokens issue": { expires_at: "--expires takes how long" },
};

Deno.test("a command has the help of its operation, and an argument or option for each field", async () => {
  const own = new Set<string>();
  for (const { input, summary, command } of Object.values(COMMANDABLE)) {
    if (command === undefined) continue;
    if (command in OWN_FORM) {
      own.add(command);
      continue;
    }
    const found = (await findCommand(command))!;
    if (!command.includes("--")) assertEquals(found.summary, summary, command);
    const typed = [
      ...found.args?.toLowerCase().split(" ").map((arg) => arg.replace(/^\[(.*)\]$/, "$1")) ?? [],
      ...found.options?.map((option) => option.name.replaceAll("-", "_")) ?? [],
    ];
    const { [command]: others = {} } = NOT_TYPED;
    const fields = Object.keys(input.shape);
    assertEquals(fields.filter((field) => !typed.includes(field)), Object.keys(others), command);
  }
  assertEquals([...own].sort(), Object.keys(OWN_FORM).sort());
});

/** What a command prints with --json, a value each line. */
async function printed(home: TestHome, args: string[], env = {}): Promise<unknown[]> {
  const { code, stdout, stderr } = await home.run([...args, "--json"], { env });
  assertEquals(code, 0, stderr);
  return linesOf(stdout);
}

function linesOf(text: string): unknown[] {
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** A channel as the configuration has it. */
function withoutStatus({ status: _, instances, ...channel }: Record<string, unknown>) {
  const each = (instances as Record<string, unknown>[]).map(({ status: _, ...rest }) => rest);
  return { ...channel, instances: each };
}

Deno.test("a command prints what the route of its operation answers", async () => {
  await using home = await makeHome();
  await home.configure({
    channels: { websocket: { enabled: true, port: 0 } },
    mcp: { servers: { files: { command: ["/bin/false"] } } },
  });
  const [issued] = await printed(home, ["tokens", "issue", "--scopes", "operate"]);
  const { token } = issued as { token: string };
  await home.run(["secrets", "set", "API", "--host", "a.example"], { stdin: "hunter2-hunter2\n" });
  const dir = `${home.dir}/home`;
  const state = await openOperatorState({ dir: `${dir}/operator`, keysDir: `${dir}/keys` });
  await state.latches.set({ sessionKey: "cli:a", capability: "exec", reason: "no" });
  await state.close();

  await using service = await home.start(["gateway", "--json"]);
  const fetchText = async (path: string) => {
    const url = new URL(`/api/webui/${path}`, service.wsUrl.replace(/^ws/, "http"));
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    assertEquals(response.status, 200, path);
    return await response.text();
  };
  const get = async (path: string) => JSON.parse(await fetchText(path));
  const env = { SERVICE_APPROVER_TOKEN: token };
  const { secrets } = await get("secrets");
  assertEquals([secrets.length, await printed(home, ["secrets", "list"])], [1, secrets]);
  const { latches } = await get("latches");
  assertEquals([latches.length, await printed(home, ["blocks", "list"])], [1, latches]);
  const { approvals } = await get("approvals");
  assertEquals(await printed(home, ["approvals", "list"], env), approvals);
  await home.run(["agent", "--no-stdin", "-s", "a", "-m", "hi"]);
  const { sessions } = await get("sessions");
  assertEquals([sessions.length, await printed(home, ["sessions", "list"])], [1, sessions]);
  const { sessions: found } = await get("search?q=hi");
  assertEquals([found.length, await printed(home, ["sessions", "search", "hi"])], [1, found]);
  const { messages } = await get("sessions/cli:a/messages");
  assertEquals([messages.length, await printed(home, ["sessions", "show", "a"])], [2, messages]);
  const exported = await fetchText("sessions/cli:a/export");
  assertEquals(await printed(home, ["sessions", "export", "a"]), linesOf(exported));
  const recording = await get("sessions/cli:a/recording");
  const saved = `${home.dir}/turn.json`;
  const [replayed] = await printed(home, ["sessions", "replay", "a", "--save", saved]);
  assertObjectMatch(replayed as Record<string, unknown>, { same: true, model_calls: 1 });
  assertEquals(JSON.parse(await Deno.readTextFile(saved)), recording);
  const [renamed] = await printed(home, ["sessions", "rename", "a", "Other"]);
  // What is looked up for one session alone is no part of a row.
  const rowOf = async (key: string) => {
    const { context_tokens, max_context_tokens, ...row } = await get(`sessions/${key}`);
    assert(context_tokens > 0 && max_context_tokens > context_tokens);
    return row;
  };
  assertEquals(await rowOf("cli:a"), renamed);
  const [forked] = await printed(home, ["sessions", "fork", "a", "--before", "1", "--as", "b"]);
  assertEquals(await rowOf("cli:b"), forked);
  const [deleted] = await printed(home, ["sessions", "delete", "b", "--yes"]);
  assertEquals(deleted, { key: "cli:b", deleted: true });
  const every = ["automations", "create", "-m", "News?", "--every", "1h"];
  const [made] = await printed(home, every) as { id: string }[];
  assertEquals(await get(`automations/${made!.id}`), made);
  assertEquals(
    await printed(home, ["automations", "list"]),
    (await get("automations")).automations,
  );
  assertEquals(await printed(home, ["automations", "show", made!.id]), [made]);
  const { permissions } = await get("permissions");
  const [table] = await printed(home, ["permissions"]) as { permissions: unknown[] }[];
  assertEquals([table!.permissions, permissions.length > 0], [permissions, true]);
  const { records } = await get("audit?kind=token.issued");
  const listed = await printed(home, ["audit", "list", "--kind", "token.issued"]);
  assertEquals([records.length, listed], [1, records]);
  const [sent] = await printed(home, ["channels", "send", "websocket", "c1", "hello"]);
  const { messages: outgoing } = await get("outbox?state=sent,dead");
  assertEquals([sent, outgoing[0].text], [outgoing[0], "hello"]);
  assertEquals(await printed(home, ["outbox", "list", "--state", "sent"]), outgoing);
  assertEquals(await printed(home, ["channels", "missed"]), []);
  assertEquals(await printed(home, ["models"]), [await get("models")]);
  assertEquals(await printed(home, ["config", "schema"]), [await get("settings/schema")]);
  const { servers } = await get("mcp/servers");
  assertEquals([servers.length, await printed(home, ["mcp", "list"])], [1, servers]);
  // What goes on meanwhile is not the same.
  const { uptime_s: _, guests: _guests, ...status } = await get("status");
  const [described] = await printed(home, ["status"]) as Record<string, unknown>[];
  assertObjectMatch(described!, status);
  const { channels } = await get("../settings/channels");
  assertEquals(await printed(home, ["plugins", "list"]), channels.map(withoutStatus));
  const [cleared] = await printed(home, ["blocks", "clear", "a", "exec"]);
  assertEquals(cleared, { session: "cli:a", capability: "exec", cleared: true });
  assertEquals((await get("latches")).latches, []);
  const [removed] = await printed(home, ["secrets", "rm", "API"]);
  assertEquals(removed, { name: "API", removed: true, keys: [], restart: [], problems: [] });
  assertEquals((await get("secrets")).secrets, []);
});
