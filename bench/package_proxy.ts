// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * The least that anything over a provider's package costs: `Deno.serve`, the package's `doStream`, and
 * an event a delta. No turn, no journal, no session; the second baseline of bench/streams.ts.
 */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const provider = createOpenAICompatible({ name: "chat", baseURL: Deno.args[0]! });
const model = provider.chatModel("fake");
const encoder = new TextEncoder();

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/v1`),
}, async (request) => {
  const { messages } = await request.json();
  const { stream } = await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: messages[0].content }] }],
  });
  const reader = stream.getReader();
  return new Response(
    new ReadableStream({
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            controller.enqueue(encoder.encode("data: [DONE]\n\n"));
            return controller.close();
          }
          if (value.type !== "text-delta") continue;
          const choices = [{ index: 0, delta: { content: value.delta } }];
          return controller.enqueue(encoder.encode(`data: ${JSON.stringify({ choices })}\n\n`));
        }
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );
});
