/**
 * The file that users download, on a machine with a shell, the C library and bubblewrap: neither Deno nor
 * Node, nor anything else.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { makeSelfExtracting } from "../../release/self_extracting.ts";
import { IMAGE_NEEDS, imageArgs, makeImage } from "../support/bare_image.ts";
import { makeBuilt } from "../support/built_form.ts";
import { needs, programPath } from "../support/needs.ts";
import { ownTarget } from "../support/small_file.ts";

/** Such a machine, with the file in it. */
async function makeMachine() {
  const dir = await Deno.makeTempDir({ prefix: "bare-" });
  const [image, data] = [`${dir}/image`, `${dir}/data`];
  await makeImage(image);
  await Deno.mkdir(data);
  await makeBuilt(`${dir}/built`);
  await makeSelfExtracting(`${image}/usr/bin/service`, {
    target: ownTarget()!,
    built: `${dir}/built`,
    deno: Deno.execPath(),
    level: 1,
  });
  const command = (...args: string[]) =>
    new Deno.Command(programPath("bubblewrap"), {
      args: [...imageArgs(image, data), ...args],
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  return {
    data,
    command,
    async run(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await command(...args).output();
      const text = new TextDecoder();
      assertEquals(code, 0, text.decode(stderr));
      return text.decode(stdout);
    },
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  };
}

/** A gateway, once it is up. */
async function startGateway(machine: Awaited<ReturnType<typeof makeMachine>>) {
  const child = machine.command("service", "gateway", "--json").spawn();
  const said = new Response(child.stderr).text();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  const reader = lines.getReader();
  const { value } = await reader.read();
  assert(value !== undefined, "The gateway did not start");
  return {
    url: (JSON.parse(value) as { wsUrl: string }).wsUrl.replace(/^ws/, "http"),
    /** With all that runs in its machine. */
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await Promise.all([child.status, said, reader.cancel()]);
    },
  };
}

Deno.test(
  needs("the file to download does the whole job on a bare machine", ...IMAGE_NEEDS),
  async () => {
    await using machine = await makeMachine();
    assertMatch(await machine.run("service", "agent", "-m", "hi"), /offline/);
    const inSandbox = await machine.run(
      ...["service", "agent", "-m", '/tool exec {"command":"echo made > a && cat a"}'],
    );
    assertStringIncludes(inSandbox, "made");
    assertEquals(await Deno.readTextFile(`${machine.data}/.service/workspace/a`), "made\n");

    await Deno.writeTextFile(
      `${machine.data}/.service/config.json`,
      JSON.stringify({ channels: { websocket: { port: 0 } } }),
    );
    for (const _ of ["first", "after a kill"]) {
      const gateway = await startGateway(machine);
      const page = await fetch(new URL("/", gateway.url));
      assertEquals(page.status, 200);
      assertMatch(await page.text(), /<html/);
      await gateway.kill();
    }
    assertMatch(await machine.run("service", "sessions", "list"), /cli/);
  },
);
