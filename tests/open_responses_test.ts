/**
 * The compliance program of Open Responses against the service. It needs a checkout of
 * https://github.com/openresponses/openresponses, named by `OPEN_RESPONSES_CHECKOUT`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { needs } from "./support/needs.ts";

const checkout = Deno.env.get("OPEN_RESPONSES_CHECKOUT") ?? "";

/**
 * Its tests of what this API has. Not here: tools of the caller (`function_call` items), the
 * compaction endpoint, and responses over a WebSocket.
 */
const TESTS = [
  "basic-response",
  "assistant-phase",
  "streaming-response",
  "system-prompt",
  "image-input",
  "multi-turn",
];

interface Report {
  results: { id: string; status: string; errors?: string[] }[];
}

Deno.test(
  needs("the compliance program of Open Responses passes", {
    what: "OPEN_RESPONSES_CHECKOUT",
    isThere: checkout !== "",
  }),
  async () => {
    await using model = startModelServer({
      script: () => ({ reasoning: "Let me see", text: ["Hello ", "there"] }),
    });
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await using service = await home.start();
    const imports = { imports: { zod: "npm:zod@4.6.7/v3" } };
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-config",
        "--no-lock",
        "--no-check",
        "--cached-only",
        "--node-modules-dir=none",
        "--unstable-sloppy-imports",
        `--import-map=data:application/json,${encodeURIComponent(JSON.stringify(imports))}`,
        `${checkout}/bin/compliance-test.ts`,
        ...["--base-url", `${service.apiUrl}/v1`, "--api-key", "none", "--model", "local/fake"],
        ...["--filter", TESTS.join(), "--json"],
      ],
      env: { DENO_NO_PACKAGE_JSON: "1" },
    }).output();
    const text = new TextDecoder();
    const printed = text.decode(stdout);
    assert(printed.includes("{"), text.decode(stderr));
    const { results }: Report = JSON.parse(printed.slice(printed.indexOf("{")));
    assertEquals(
      Object.fromEntries(results.map(({ id, status, errors = [] }) => [id, [status, ...errors]])),
      Object.fromEntries(TESTS.map((id) => [id, ["passed"]])),
    );
  },
);
