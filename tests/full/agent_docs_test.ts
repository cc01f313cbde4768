/** What `docs/agent.md` shows to type works as it stands. */

import { assert, assertEquals } from "@std/assert";
import { dirname } from "@std/path";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, programArgs } from "../support/home.ts";
import { markdownBlocks } from "../support/markdown_blocks.ts";
import { needs } from "../support/needs.ts";
import { MODES } from "../support/terminal_world.ts";

const PAGE = new URL("../../docs/agent.md", import.meta.url);

for (const mode of MODES) {
  Deno.test({
    ...needs(`the commands of docs/agent.md work as they stand, ${mode}`, "bash", "git", "jq"),
    async fn(t) {
      const lines = markdownBlocks(await Deno.readTextFile(PAGE))
        .filter(({ language }) => language === "sh").flatMap(({ text }) => text.split("\n"))
        .filter((line) => line !== "" && !/^service agent +#/.test(line));
      assert(lines.length > 6, "all but the chat");
      await using model = startModelServer({ script: { text: "said" } });
      await using home = await makeHome({
        agent: { model: "local/fake" },
        providers: { local: { baseUrl: model.baseUrl } },
      });
      await using _gateway = mode === "with a gateway"
        ? await home.start(["gateway", "--json"])
        : undefined;
      await Deno.mkdir(`${home.dir}/bin`);
      const program = [Deno.execPath(), ...programArgs()].map((word) => `'${word}'`).join(" ");
      await Deno.writeTextFile(`${home.dir}/bin/service`, `#!/bin/sh\nexec ${program} "$@"\n`, {
        mode: 0o755,
      });
      await Deno.mkdir(`${home.dir}/code/site`, { recursive: true });
      let said = "";
      for (const line of ["git init -q . && echo changed > a && git add -N a", ...lines]) {
        await t.step(line, async () => {
          const { code, stdout, stderr } = await new Deno.Command("bash", {
            args: ["-o", "pipefail", "-c", line],
            cwd: `${home.dir}/code/site`,
            clearEnv: true,
            env: {
              HOME: home.dir,
              SERVICE_HOME: `${home.dir}/home`,
              PATH: `${home.dir}/bin:${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`,
              DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
              NO_COLOR: "1",
            },
            stdin: "null",
          }).output();
          assertEquals(code, 0, new TextDecoder().decode(stderr));
          said += new TextDecoder().decode(stdout);
        });
      }
      const asked = model.requests.map(({ body }) => JSON.stringify(body.messages));
      const review = asked.find((messages) => messages.includes("Review this"))!;
      assert(review.includes("+changed"), review);
      // The one of jq too.
      assertEquals(said.split("\n").filter((line) => line === "said").length, asked.length);
    },
  });
}
