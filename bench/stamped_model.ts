// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * A model server whose tokens are the moments at which they were sent (`<ms since 1970, with fraction>;`),
 * one each 50 ms, so that whoever reads them knows how old they are.
 *
 * `deno run -A bench/stamped_model.ts <tokens>`; the first line is its base URL.
 *
 * @module
 */

const tokens = Number(Deno.args[0]!);
const EVERY_MS = 50;
const encoder = new TextEncoder();

function chunk(delta: Record<string, string>, finish: string | null = null): Uint8Array {
  const body = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "fake",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
  return encoder.encode(`data: ${JSON.stringify(body)}\n\n`);
}

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  await request.body?.cancel();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      // Streams that begin together are not to send together.
      await wait(Math.random() * EVERY_MS);
      for (let sent = 0; sent < tokens; sent++) {
        const now = performance.timeOrigin + performance.now();
        controller.enqueue(chunk({ role: "assistant", content: `${now.toFixed(3)};` }));
        await wait(EVERY_MS);
      }
      controller.enqueue(chunk({}, "stop"));
      controller.enqueue(encoder.encode("data: [DONE]\n\n"));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
});
console.log(`http://127.0.0.1:${server.addr.port}/v1`);

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
