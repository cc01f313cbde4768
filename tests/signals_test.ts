import { assert, assertEquals, assertRejects } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome, RUN_FLAGS } from "./support/home.ts";

const ask = (apiUrl: string) =>
  fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], session_id: "s" }),
  });

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} lets a running turn end, takes no new one, and exits with 0`, async () => {
    const hold = Promise.withResolvers<void>();
    await using model = startModelServer({
      script: async () => {
        await hold.promise;
        return { text: "just in time" };
      },
    });
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await using service = await home.start();
    const asking = ask(service.apiUrl);
    await model.request(0);
    service.process.kill(signal);
    while (!service.log().includes("Stopping")) await new Promise((done) => setTimeout(done, 10));
    const late = await ask(service.apiUrl).then((response) => response.status, () => "refused");
    assert(late === "refused" || late === 503, String(late));
    hold.resolve();
    const response = await asking;
    assertEquals((await response.json()).choices[0].message.content, "just in time");
    const { code } = await service.process.status;
    assertEquals(code, 0, service.log());
  });
}

Deno.test("a second signal ends at once, while a model hangs", async () => {
  await using model = startModelServer({ script: { hang: "headers" } });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  const asking = assertRejects(() => ask(service.apiUrl).then((response) => response.text()));
  await (await model.request(0)).hanging;
  service.process.kill("SIGTERM");
  while (!service.log().includes("Stopping")) await new Promise((done) => setTimeout(done, 10));
  service.process.kill("SIGTERM");
  assertEquals((await service.process.status).code, 130);
  await asking;
});

Deno.test("a second signal ends at once, while the service is busy", async () => {
  await using home = await makeHome();
  const program = new URL("./support/busy_service.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [...RUN_FLAGS, program],
    env: { SERVICE_HOME: `${home.dir}/home` },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read(); // it is up, and its Worker loops for ever
  child.kill("SIGTERM");
  const log = child.stderr.getReader();
  // Not before the first one was taken: two at once are one to the kernel.
  for (let said = ""; !said.includes("Stopping");) {
    const { value, done } = await log.read();
    assertEquals(done, false);
    said += new TextDecoder().decode(value);
  }
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 130);
  await reader.cancel();
  await log.cancel();
});
