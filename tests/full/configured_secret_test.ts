import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "../support/home.ts";

const VALUES = ["sk-first-0123456789", "sk-second-987654321"] as const;

const SECRETS_KEY = btoa("a key of exactly 32 bytes, as is");

/** Asks once, and gives the answer back as it came. */
async function ask({ apiUrl }: Running): Promise<string> {
  const response = await fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }),
  });
  return await response.text();
}

/** Files of a folder and of those in it that hold one of the values, as they are or in base64. */
async function filesWith(dir: string, values: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const forms = values.flatMap((value) => [value, btoa(value)]);
  for await (const { name, isDirectory, isFile } of Deno.readDir(dir)) {
    const path = `${dir}/${name}`;
    if (isDirectory) found.push(...await filesWith(path, values));
    else if (isFile) {
      const text = new TextDecoder("latin1").decode(await Deno.readFile(path));
      if (forms.some((form) => text.includes(form))) found.push(path);
    }
  }
  return found;
}

async function setSecret(home: TestHome, value: string, env: Record<string, string>, host: string) {
  const args = ["secrets", "set", "LOCAL", "--host", host];
  const { code, stdout, stderr } = await home.run(args, { stdin: `${value}\n`, env });
  assertEquals(code, 0, stderr);
  assertEquals(stdout + stderr.replaceAll(value, "!"), stderr);
  return stderr;
}

Deno.test("a provider is called with the secret that its key names, which stands in no file and no output", async () => {
  await using model = startModelServer({ script: { text: `a key like ${SECRETS_KEY}` } });
  await using home = await makeHome();
  const { host } = new URL(model.baseUrl);
  const env = { SERVICE_SECRETS_KEY: SECRETS_KEY };
  const config = {
    agent: { model: "local/fake", workspace: `${home.dir}/workspace` },
    providers: { local: { baseUrl: model.baseUrl, apiKey: "${secret:LOCAL}" } },
    log: { level: "debug" },
  };
  await home.configure(config);
  assertStringIncludes(
    (await home.run(["serve", "--port", "0"], { env })).stderr,
    "providers.local.apiKey (line 9): there is no secret LOCAL",
  );
  await setSecret(home, VALUES[0], env, host);

  const said: string[] = [];
  {
    await using service = await home.start(undefined, { env });
    said.push(await ask(service));
    assertEquals((await model.request(0)).headers.get("authorization"), `Bearer ${VALUES[0]}`);
    // A new value is noticed, and waits for a restart, as every change of a provider does.
    assertStringIncludes(
      await setSecret(home, VALUES[1], env, host),
      "Restart the gateway to use it for providers.local.apiKey",
    );
    while (!service.log().includes("restart_required")) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assertEquals(await service.stop(), 0);
    said.push(service.log());
  }
  await using service = await home.start(undefined, { env });
  said.push(await ask(service));
  assertEquals((await model.request(1)).headers.get("authorization"), `Bearer ${VALUES[1]}`);
  for (
    const args of [
      ["config", "get"],
      ["config", "check"],
      ["secrets", "list", "--json"],
      ["audit"],
      [
        "doctor",
      ],
      ["permissions"],
    ]
  ) {
    const { stdout, stderr } = await home.run(args, { env });
    said.push(stdout, stderr);
  }
  assertEquals(await service.stop(), 0);
  said.push(service.log());
  const all = said.join("\n");
  assertStringIncludes(all, "${secret:LOCAL}");
  assertStringIncludes(all, "secret.set");
  for (const value of VALUES) assertEquals(all.includes(value.slice(3)), false);
  assertEquals(all.includes(env.SERVICE_SECRETS_KEY), false);
  assertStringIncludes(all, "a key like [secret SERVICE_SECRETS_KEY]");
  assertEquals(await filesWith(home.dir, VALUES), []);
});

Deno.test("a service does not start with a secret that is for another host, or whose key it has not", async () => {
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: "https://evil.example/v1", apiKey: "${secret:LOCAL}" } },
  });
  const env = { SERVICE_SECRETS_KEY: btoa("k".repeat(32)) };
  const noted = await setSecret(home, VALUES[0], env, "api.example.com");
  assertStringIncludes(noted, "The gateway won't start with this configuration");
  const wrong = await home.run(["serve", "--port", "0"], { env });
  assertEquals(wrong.code, 3);
  assertStringIncludes(
    wrong.stderr,
    "providers.local.apiKey (line 8): the secret LOCAL is for api.example.com only, and it would go " +
      "to evil.example:443",
  );
  for (const key of ["", btoa("x".repeat(32))]) {
    const { code, stderr } = await home.run(["serve", "--port", "0"], {
      env: { SERVICE_SECRETS_KEY: key },
    });
    assertEquals(code, 3);
    assertStringIncludes(
      stderr,
      "providers.local.apiKey (line 8): the secret LOCAL cannot be read",
    );
    assert(!stderr.includes(VALUES[0]));
  }
});
