import { assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, RUN_FLAGS } from "../support/home.ts";

Deno.test("a turn of the stand-alone server with 1,500 progress events is answered, streamed and not", async () => {
  const script = ({ body }: { body: { messages: { role: string }[] } }) =>
    body.messages.at(-1)!.role === "tool"
      ? { text: "Found it." }
      : { calls: [{ tool: "search_files", args: { pattern: "x" } }] };
  await using model = startModelServer({ script });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  const program = new URL("../support/chatty_service.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [...RUN_FLAGS, program],
    env: { SERVICE_HOME: `${home.dir}/home` },
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  const url = new TextDecoder().decode((await reader.read()).value).trim();
  const ask = (more: object) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "find x" }], ...more }),
    });

  const whole = await ask({ session_id: "whole" });
  assertEquals((await whole.json()).choices[0].message.content, "Found it.");

  const streamed = await ask({
    session_id: "streamed",
    stream: true,
    stream_options: { include_progress: true },
  });
  const text = await streamed.text();
  const told = text.split("\n").filter((line) => line.includes(" of 1500"));
  assertEquals(told.length, 1_500);
  assertEquals(text.endsWith("data: [DONE]\n\n"), true);

  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  await reader.cancel();
});
