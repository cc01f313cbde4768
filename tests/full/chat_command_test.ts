import { assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { freePort } from "../support/free_port.ts";
import { makeHome, type Running } from "../support/home.ts";
import { WireSocket } from "../support/wire_socket.ts";

Deno.test("service chat -m asks over the wire, goes on in a chat, and answers commands", async () => {
  await using model = startModelServer({ script: [{ text: "Hello there" }, { text: "Again" }] });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  const url = ["--url", gateway.wsUrl, "--no-stdin"];
  const first = await home.run(["chat", ...url, "--chat", "ops", "-m", "hi"]);
  assertEquals([first.code, first.stdout], [0, "Hello there\n"], first.stderr);
  const second = await home.run(["chat", ...url, "--chat", "ops", "-m", "and now?"]);
  assertEquals([second.code, second.stdout], [0, "Again\n"], second.stderr);
  assertEquals((await model.request(1)).body.messages.length > 3, true);
  const status = await home.run(["chat", ...url, "--chat", "ops", "-m", "/status"]);
  assertStringIncludes(status.stdout, "websocket:ops");
  const wrong = await home.run(["chat", ...url, "--chat", "no spaces", "-m", "hi"]);
  assertEquals(wrong.code, 2);
  const nobody = await home.run(["chat", "--url", "ws://127.0.0.1:1/", "-m", "hi"]);
  assertEquals(nobody.code, 1);
  assertStringIncludes(nobody.stderr, "service start");
});

Deno.test("service chat gets in with the port's secret or a token, and not without", async () => {
  await using home = await makeHome({
    channels: { websocket: { tokenIssueSecret: "the-port-secret" } },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  const ask = (env: Record<string, string>) =>
    home.run(["chat", "--url", gateway.wsUrl, "--no-stdin", "-m", "hi"], { env });
  const without = await ask({});
  assertEquals(without.code, 5);
  assertStringIncludes(without.stderr, "SERVICE_TOKEN");
  assertEquals((await ask({ SERVICE_TOKEN: "not-the-secret" })).code, 5);
  assertEquals((await ask({ SERVICE_TOKEN: "the-port-secret" })).code, 0);
  const issued = await home.run(["tokens", "issue", "--scopes", "read,chat"]);
  const token = issued.stdout.trim();
  const withToken = await ask({ SERVICE_TOKEN: token });
  assertEquals(withToken.code, 0, withToken.stderr);
  assertEquals(gateway.log().includes(token), false);
  const reader = (await home.run(["tokens", "issue", "--scopes", "read"])).stdout.trim();
  const refused = await ask({ SERVICE_TOKEN: reader });
  assertEquals(refused.code, 5, refused.stderr);
});

Deno.test("service chat --watch --replay prints the frames of a chat as JSON lines", async () => {
  await using home = await makeHome({});
  await using gateway = await home.start(["gateway", "--json"]);
  using socket = await WireSocket.open(gateway.wsUrl);
  socket.send({ type: "message", chat_id: socket.chatId, content: "hi" });
  await socket.next("turn_end");
  const watching = home.spawn(
    ["chat", "--url", gateway.wsUrl, "--chat", socket.chatId, "--watch", "--replay"],
  );
  let text = "";
  for await (const piece of watching.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('"turn_end"')) break;
  }
  watching.kill("SIGINT");
  await watching.stderr.cancel();
  await watching.status;
  const frames = text.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(frames[0].event, "attached");
  assertEquals(frames[1].seq, 1);
});

Deno.test("service chat --watch ends when nobody reads what it prints", async () => {
  await using home = await makeHome({});
  await using gateway = await home.start(["gateway", "--json"]);
  using socket = await WireSocket.open(gateway.wsUrl);
  const watching = home.spawn(["chat", "--url", gateway.wsUrl, "--chat", socket.chatId, "--watch"]);
  const reader = watching.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const errors = new Response(watching.stderr).text();
  socket.send({ type: "message", chat_id: socket.chatId, content: "hi" });
  const { code } = await watching.status;
  assertEquals([code, await errors], [0, ""]);
});

Deno.test("W3 service chat prints an answer once when the service is killed under it", async () => {
  const words = Array.from({ length: 8 }, (_, at) => `w${at} `);
  await using model = startModelServer({
    script: ({ index }) => index === 0 ? { text: words, hang: 4 } : { text: words },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { websocket: { port: freePort() } },
  });
  const first = await home.start(["gateway", "--json"]);
  const asking = home.spawn(
    ["chat", "--url", first.wsUrl, "--no-stdin", "--chat", "ops", "-m", "hi"],
  );
  const errors = new Response(asking.stderr).text();
  let text = "";
  let second: Running | undefined;
  try {
    for await (const piece of asking.stdout.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (second !== undefined || !text.includes("w2")) continue;
      await first.kill();
      second = await home.start(["gateway", "--json"]);
    }
    assertEquals((await asking.status).code, 0, await errors);
  } finally {
    await second?.[Symbol.asyncDispose]();
  }
  // What was cut off, and the answer of the turn that was begun again.
  assertEquals(text, `w0 w1 w2 \n\n${words.join("")}\n`);
});

Deno.test("service chat ends when its secret counts no more after a restart", async () => {
  await using model = startModelServer({ script: { text: ["never ", "ended"], hang: 2 } });
  const config = (tokenIssueSecret: string) => ({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { websocket: { port, tokenIssueSecret } },
  });
  const port = freePort();
  await using home = await makeHome(config("the-first-secret"));
  const first = await home.start(["gateway", "--json"]);
  const asking = home.spawn(["chat", "--url", first.wsUrl, "--no-stdin", "-m", "hi"], {
    env: { SERVICE_TOKEN: "the-first-secret" },
  });
  const output = asking.output();
  await (await model.request(0)).hanging;
  await first.kill();
  await home.configure(config("another-secret"));
  await using _second = await home.start(["gateway", "--json"]);
  const { code, stderr } = await output;
  const said = new TextDecoder().decode(stderr);
  assertEquals(code, 5, said);
  assertStringIncludes(said, "does not know the token or secret in SERVICE_TOKEN");
});

Deno.test("service chat says why it is not let in", async () => {
  await using home = await makeHome({ channels: { websocket: { allowFrom: ["alice"] } } });
  await using gateway = await home.start(["gateway", "--json"]);
  const { code, stderr } = await home.run(
    ["chat", "--url", gateway.wsUrl, "--no-stdin", "--client-id", "bob", "-m", "hi"],
  );
  assertEquals(code, 1);
  assertStringIncludes(stderr, "The server refused the connection");
  assertStringIncludes(stderr, "403");
  assertEquals(stderr.includes("not expected"), false);
});

Deno.test("the script of the documentation works as it stands", async () => {
  await using home = await makeHome({});
  await using gateway = await home.start(["gateway", "--json"]);
  const script = new URL("../../docs/examples/ask.ts", import.meta.url).pathname;
  for (
    const [question, code, said] of [["hello", 0, "offline"], ["/help", 0, "/status"]] as const
  ) {
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-net", "--allow-env", script, question],
      env: { SERVICE_URL: gateway.wsUrl.replace("ws:", "http:") },
    }).output();
    assertEquals(output.code, code);
    assertStringIncludes(new TextDecoder().decode(output.stdout), said);
  }
});
