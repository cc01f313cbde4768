import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { makeHome } from "./support/home.ts";

async function raw(port: number, bytes: Uint8Array | string): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const data = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  for (let at = 0; at < data.length;) at += await connection.write(data.subarray(at));
  let text = "";
  for await (const chunk of connection.readable) text += new TextDecoder().decode(chunk);
  return text;
}

Deno.test("what cannot be read as a request is refused in the envelope, and leaves a line in the log", async () => {
  await using home = await makeHome({});
  await using service = await home.start();
  const port = Number(new URL(service.apiUrl).port);
  const answer = await raw(
    port,
    "GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + "a".repeat(20_000) + "\r\n\r\n",
  );
  assertStringIncludes(answer, "431");
  assertStringIncludes(answer, '"code":"');
  assertEquals(await service.stop(), 0);
  assertStringIncludes(service.log(), "- - 431");
});

Deno.test("a body that is not UTF-8, or encoded, or blank to the eye, is refused and nothing is stored", async () => {
  await using home = await makeHome({});
  await using service = await home.start();
  const post = (body: BodyInit, headers: Record<string, string> = {}) =>
    fetch(`${service.apiUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  const head = new TextEncoder().encode('{"messages":[{"role":"user","content":"');
  const broken = new Uint8Array([...head, 0xff, 0xfe, ...new TextEncoder().encode('"}]}')]);
  const notUtf8 = await post(broken);
  assertEquals(notUtf8.status, 400);
  assertStringIncludes((await notUtf8.json()).error.message, "UTF-8");
  const encoded = await post("{}", { "content-encoding": "gzip" });
  assertEquals([encoded.status, (await encoded.json()).error.param], [415, "Content-Encoding"]);
  const unseen = await post('{"messages":[{"role":"user","content":"\\u200b"}]}');
  assertEquals(unseen.status, 400);
  await unseen.body?.cancel();
  const { stdout } = await home.run(["sessions", "list", "--json"]);
  assertEquals(stdout, "");
});

Deno.test("a home that cannot be used is a configuration error that names it", async () => {
  await using home = await makeHome();
  const { code, stderr } = await home.run(["agent", "-m", "hi"], {
    env: { SERVICE_HOME: "/etc/passwd" },
  });
  assertEquals(code, 3, stderr);
  assertStringIncludes(stderr, '"/etc/passwd"');
  assertStringIncludes(stderr, "SERVICE_HOME");
});

Deno.test("a path of the kernel is refused in words that ask for nothing", async () => {
  await using home = await makeHome();
  const { code, stdout } = await home.run([
    "agent",
    "-m",
    '/tool read_file {"path":"/proc/self/environ"}',
  ]);
  assertEquals(code, 5);
  assertStringIncludes(stdout, "kernel");
  assert(!stdout.includes("allow-all"), stdout);
});
