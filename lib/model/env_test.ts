import { assertEquals } from "@std/assert";
import { MODEL_ENV } from "./env.ts";

/** Imports each package and makes a model of it in a Worker that may read only these variables. */
async function attempt(env: string[]): Promise<Record<string, string>> {
  const worker = new Worker(new URL("./testing/load_worker.ts", import.meta.url).href, {
    type: "module",
    deno: {
      permissions: {
        env,
        net: false,
        read: false,
        write: false,
        run: false,
        ffi: false,
        sys: false,
      },
    },
  });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    });
  } finally {
    worker.terminate();
  }
}

Deno.test("MODEL_ENV is enough for every package, and no more", async () => {
  const variables = MODEL_ENV.map(({ variable }) => variable);
  assertEquals(await attempt(variables), {
    "openai-compatible": "asked",
    openai: "asked",
    anthropic: "asked",
  });
  const refused = (variable: string) => `Requires env access to "${variable}"`;
  assertEquals(await attempt([]), {
    "openai-compatible": "asked",
    openai: refused("OPENAI_BASE_URL"),
    anthropic: refused("ANTHROPIC_BASE_URL"),
  });
  assertEquals(variables, ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"]);
});
