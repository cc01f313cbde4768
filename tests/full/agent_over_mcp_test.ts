import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult, ContentBlock, Tool } from "@modelcontextprotocol/sdk/types.js";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Behaviour, type RecordedRequest, startModelServer } from "../fakes/model_server.ts";
import { makeHome, programArgs, type Running, type TestHome } from "../support/home.ts";

const KEY = "key-of-the-api-0123456789";

interface Setup extends AsyncDisposable {
  home: TestHome;
  model: ReturnType<typeof startModelServer>;
  client: Client;
  /** Of the service, where one runs for itself. */
  service?: Running;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
}

interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { progress: number; message?: string }) => void;
}

type Script = Behaviour | Behaviour[] | ((request: RecordedRequest) => Behaviour);

/** `fetch` whose answer surely ends with its signal: Deno loses an abort now and then. */
const leavingFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const signal = init?.signal ?? undefined;
  const body = response.body?.pipeThrough(new TransformStream(), { signal }) ?? null;
  return new Response(body, response);
};

/** The official client over one of the two ways. */
async function connect(
  transport: "stdio" | "http",
  script: Script,
  more: Record<string, unknown> = {},
): Promise<Setup> {
  const model = startModelServer({ script });
  const home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { mcp: true, apiKey: KEY },
    ...more,
  });
  const client = new Client({ name: "test", version: "1" });
  let service: Running | undefined;
  if (transport === "stdio") {
    await client.connect(stdio(home));
  } else {
    service = await home.start();
    const url = new URL(`${service.apiUrl}/mcp`);
    const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
    await client.connect(
      new StreamableHTTPClientTransport(url, { requestInit, fetch: leavingFetch }),
    );
  }
  return {
    home,
    model,
    client,
    service,
    call: async (name, args, options = {}) =>
      await client.callTool({ name, arguments: args }, undefined, options) as CallToolResult,
    async [Symbol.asyncDispose]() {
      await client.close();
      await service?.[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

function stdio(home: TestHome): StdioClientTransport {
  return new StdioClientTransport({
    command: Deno.execPath(),
    args: [...programArgs(), "mcp", "serve"],
    cwd: home.dir,
    env: {
      HOME: home.dir,
      SERVICE_HOME: `${home.dir}/home`,
      PATH: Deno.env.get("PATH") ?? "",
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    },
    stderr: "ignore",
  });
}

function testBoth(name: string, test: (transport: "stdio" | "http") => Promise<void>): void {
  for (const transport of ["stdio", "http"] as const) {
    Deno.test({ name: `${name} (${transport})`, fn: () => test(transport) });
  }
}

const textOf = ({ content }: CallToolResult) =>
  content.map((part: ContentBlock) => part.type === "text" ? part.text : part.type).join("\n");

// deno-lint-ignore no-explicit-any -- tests look at whatever came
const dataOf = (result: CallToolResult) => result.structuredContent as any;

testBoth("the official client asks, goes on in a session and reads it", async (transport) => {
  await using set = await connect(transport, [
    { text: "let me look", calls: [{ tool: "list_files", args: { path: "." } }] },
    { text: "nothing there" },
    { text: "I said so" },
  ]);
  const { client, call, model } = set;
  const { tools } = await client.listTools();
  assertEquals(
    tools.map(({ name, annotations }: Tool) => [name, annotations?.readOnlyHint]),
    [["ask", false], ["list_sessions", true], ["read_session", true]],
  );
  const progress: string[] = [];
  const first = await call("ask", { message: "what is there?" }, {
    onprogress: ({ message }) => progress.push(message ?? ""),
  });
  assertEquals(first.isError, undefined, textOf(first));
  const { session_id } = dataOf(first);
  assertEquals(textOf(first), `let me look\n\nnothing there\nsession_id: ${session_id}`);
  assertStringIncludes(progress.join("\n"), "list_files");
  // In one piece or more, as fast as the model was. What comes right before the result is in the result:
  // the client hears no progress of a call that is answered.
  assertStringIncludes(progress.join(""), "let me look");

  const second = await call("ask", { message: "really?", session_id });
  assertEquals(textOf(second), "I said so");
  assertStringIncludes(JSON.stringify((await model.request(2)).body.messages), "what is there?");

  const { sessions } = dataOf(await call("list_sessions", { limit: 5 }));
  assertEquals(
    sessions.map((one: { session_id: string; turns: number }) => [one.session_id, one.turns]),
    [
      [session_id, 2],
    ],
  );
  const read = dataOf(await call("read_session", { session_id, limit: 2 }));
  assertEquals(
    read.messages.map(({ role, text }: { role: string; text: string }) => [role, text]),
    [["user", "really?"], ["assistant", "I said so"]],
  );
  const { before } = read;
  const earlier = dataOf(await call("read_session", { session_id, before }));
  assertEquals([read.session_id, earlier.messages.length], [session_id, 4]);
});

testBoth("what goes wrong is told in plain words", async (transport) => {
  await using set = await connect(transport, { status: 400, error: "no such thing as this model" });
  const { call } = set;
  const cases: [string, Record<string, unknown>, string][] = [
    ["ask", { message: "hello" }, "no such thing as this model"],
    ["ask", {}, "message must be text"],
    ["ask", { message: " \n" }, "message must be text that is not blank"],
    ["ask", { message: "x".repeat(1_000_001) }, "at most 1,000,000 characters"],
    ["ask", { message: "a", session_id: "a b" }, "session_id must be 1 to 128 characters"],
    ["ask", { message: "a", sessionId: "a" }, 'Unknown argument "sessionId"'],
    ["list_sessions", { limit: 101 }, "limit must be a whole number from 1 to 100"],
    ["list_sessions", { limit: 1.5 }, "limit must be a whole number"],
    ["read_session", { session_id: "nobody" }, 'There is no session "nobody"'],
  ];
  for (const [name, args, expected] of cases) {
    const result = await call(name, args);
    assertEquals(result.isError, true, `${name} ${JSON.stringify(args).slice(0, 100)}`);
    assertStringIncludes(textOf(result), expected);
  }
  await assertRejects(
    () => call("format_disk", {}),
    Error,
    'Unknown tool "format_disk"; there are: ask',
  );
});

testBoth(
  "turns of one session follow each other, those of two go on at once",
  async (transport) => {
    await using set = await connect(transport, ({ body }) => ({
      text: `to ${body.messages.at(-1)!.content}`,
      delayMs: 20,
    }));
    const asked = ["a", "a", "b", "b"].map((session_id, at) =>
      set.call("ask", { message: `question ${at}`, session_id })
    );
    assertEquals(
      (await Promise.all(asked)).map(textOf),
      [0, 1, 2, 3].map((at) => `to question ${at}`),
    );
    const { sessions } = dataOf(await set.call("list_sessions", {}));
    assertEquals(sessions.map(({ turns }: { turns: number }) => turns), [2, 2]);
  },
);

testBoth("an action waits for a person, as over the API", async (transport) => {
  let path = "";
  await using set = await connect(transport, ({ body }) => {
    const last = body.messages.at(-1)!;
    if (last.role === "tool") return { text: `tool said: ${last.content}` };
    return { calls: [{ tool: "write_file", args: { path, content: "from afar" } }] };
  });
  path = `${set.home.dir}/outside.txt`;
  // Nobody could answer: it is refused at once, and the turn goes on.
  const refused = await set.call("ask", { message: "write it", session_id: "s" });
  assertStringIncludes(textOf(refused), "Refused: fs.write");

  const issued = await set.home.run(["tokens", "issue", "--scopes", "approve"]);
  assertEquals(issued.code, 0, issued.stderr);
  const env = { SERVICE_APPROVER_TOKEN: issued.stdout.trim() };
  const waits = Promise.withResolvers<string>();
  const answer = set.call("ask", { message: "write it", session_id: "s" }, {
    onprogress: ({ message = "" }) =>
      message.startsWith("Waits for a person") && waits.resolve(message),
  });
  const id = /\((apr_\w+)\)/.exec(await waits.promise)![1]!;
  const shown = await set.home.run(["approvals", "show", id, "--json"], { env });
  assertEquals(shown.code, 0, shown.stderr);
  const { digest, channel, actor } = JSON.parse(shown.stdout);
  assertEquals([channel, actor], transport === "http" ? ["api", "api:key"] : ["mcp", "cli:local"]);
  const approved = await set.home.run(
    ["approvals", "approve", id, "--digest", digest.slice(0, 8)],
    { env },
  );
  assertEquals(approved.code, 0, approved.stderr);
  assertStringIncludes(textOf(await answer), "tool said:");
  assertEquals(await Deno.readTextFile(path), "from afar");
});

testBoth("cancelling a call ends its turn, and the session is free", async (transport) => {
  await using set = await connect(transport, [{ hang: "headers" }, { text: "here" }]);
  const { call, model } = set;
  const controller = new AbortController();
  const asked = call("ask", { message: "wait", session_id: "s" }, { signal: controller.signal });
  const first = await model.request(0);
  controller.abort("enough");
  await assertRejects(() => asked);
  await first.closed;
  assert(first.aborted);
  assertEquals(textOf(await call("ask", { message: "again", session_id: "s" })), "here");
});

testBoth("a client that leaves in mid-call ends the turn", async (transport) => {
  await using set = await connect(transport, { hang: "headers" });
  const asked = set.call("ask", { message: "wait" }).catch((error) => error);
  const request = await set.model.request(0);
  await set.client.close();
  await request.closed;
  assert(request.aborted);
  assert(await asked instanceof Error);
});
