import { startModelServer } from "./fakes/model_server.ts";
const MD = `# Result

Here is a **bold** claim with \`code\` and a [link](https://example.com/x).

- first item that is rather long so that it has to be wrapped somewhere in the middle
- second ✅

| Name | Value |
|---|--:|
| alpha | 1 |
| beta | 22 |

\`\`\`ts
const answer = 42; // the answer
function f(x: string) { return x + "s"; }
\`\`\`

Done.`;
const server = startModelServer({
  port: 9911,
  // deno-lint-ignore no-explicit-any
  script: async (request: any) => {
    const last = request.body.messages.at(-1);
    const said = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
    if (last.role === "tool") return { text: "The tool said: " + said.slice(0, 50) };
    if (said.includes("think")) await new Promise((r) => setTimeout(r, 4000));
    if (said.includes("md")) return { text: MD.match(/[^]{1,12}/g)!, delayMs: 60 };
    if (said.includes("fail")) return { text: "Half an answer that will be c", endAfter: 5, delayMs: 100 };
    if (said.includes("reason")) return { reasoning: "Let me think about this\nin several lines\n".repeat(3), text: "Thought." };
    const tool = /tool (\w+) (\{.*\})/.exec(said);
    if (tool) return { calls: [{ tool: tool[1], args: JSON.parse(tool[2]) }] };
    return { text: Array.from({ length: 40 }, (_, i) => `word${i} `), delayMs: 100 };
  },
});
console.log(server.baseUrl);
await new Promise(() => {});
