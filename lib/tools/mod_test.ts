import { assert, assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { TOOL_ENTRIES } from "../base/entries.ts";
import { parametersText } from "./generate_parameters.ts";
import { createTools, describeTool, findTool, TOOLS } from "./mod.ts";
import { defineTool } from "../contract/tool.ts";

Deno.test("TOOLS have names of their own, and each its child side", async () => {
  const names = TOOLS.map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
  const children: string[] = [];
  for (const name of Object.keys(TOOL_ENTRIES)) {
    const { run } = await import(new URL(`child/${name}.ts`, import.meta.url).href);
    assertEquals(typeof run, "function");
    children.push(name);
  }
  // The resolver, who fetches signing keys and who reads files of messages are the authority's own; messages and
  // automations go to the service, and a command into a sandbox of its own.
  assertEquals(
    [
      ...children.filter((name) => !["attach_file", "fetch_keys", "resolve_host"].includes(name)),
      "exec",
      "message",
      "schedule",
    ].sort(),
    names.sort(),
  );
});

Deno.test("parameters.json is what the schemas give; deno task generate writes it anew", async () => {
  const file = await Deno.readTextFile(new URL("parameters.json", import.meta.url));
  assertEquals(file, parametersText());
});

Deno.test("describeTool() gives a JSON Schema object that a model can be sent", () => {
  for (const { name, description, parameters } of TOOLS.map(describeTool)) {
    assert(description.length > 40, name);
    assertEquals(parameters.type, "object");
    assertEquals(parameters.additionalProperties, false);
    assertEquals("$schema" in parameters, false);
    for (
      const property of Object.values(
        parameters.properties as Record<string, { description?: string }>,
      )
    ) {
      assert(property.description, name);
    }
    // What has a default may be left out.
    for (const required of parameters.required as string[] ?? []) {
      assertEquals(
        "default" in (parameters.properties as Record<string, object>)[required]!,
        false,
      );
    }
  }
});

Deno.test("TOOLS touch what their arguments name, and hint at it", () => {
  const touches = (name: string, args: unknown) => findTool(name)!.touches(args);
  assertEquals(touches("read_file", { path: "a" }), { kind: "path", access: "read", path: "a" });
  assertEquals(touches("edit_file", { path: "a" }), { kind: "path", access: "write", path: "a" });
  assertEquals(touches("web_fetch", { url: "u" }), { kind: "url", url: "u" });
  const headers = { "X-Key": "${secret:KEY} ${secret:KEY}", Accept: "${secret:OTHER}" };
  assertEquals(touches("web_fetch", { url: "u", headers }), {
    kind: "url",
    url: "u",
    headers: { "x-key": headers["X-Key"], accept: headers.Accept },
  });
  assertEquals(findTool("web_fetch")!.secrets!({ url: "u", headers }), ["KEY", "OTHER"]);
  assertEquals(findTool("web_fetch")!.secrets!({ url: "u" }), []);
  assertEquals(touches("exec", { command: "ls", cwd: ".", hosts: ["a.net"] }), {
    kind: "command",
    command: "ls",
    cwd: ".",
    hosts: ["a.net"],
  });
  assertEquals(findTool("exec")!.secrets!({ command: "ls", secrets: ["KEY"] }), ["KEY"]);
  assertEquals(findTool("read_file")!.hint({ path: "notes.md" }), "read_file notes.md");
  assertEquals(findTool("list_files")!.hint({}), "list_files .");
  assertEquals(findTool("no_such"), undefined);
});

Deno.test("defineTool() refuses a tool without a known capability, or with a bad name", () => {
  const tool = {
    name: "do_it",
    description: "",
    capability: "fs.read" as const,
    readOnly: true,
    schema: z.strictObject({}),
    touches: () => ({ kind: "path" as const, access: "read" as const, path: "." }),
    hint: () => "do_it",
    timeoutMs: 1,
  };
  assertEquals(defineTool(tool).name, "do_it");
  for (const capability of [undefined, "", "fs.all"]) {
    assertThrows(
      () => defineTool({ ...tool, capability: capability as "fs.read" }),
      TypeError,
      "expected one of",
    );
  }
  for (const name of ["", "Do", "1a", "a-b", "ä", "a".repeat(65)]) {
    assertThrows(() => defineTool({ ...tool, name }), TypeError, "expected a name");
  }
});

Deno.test("createTools() has no exec on Windows, and the same others", () => {
  const names = (os: typeof Deno.build.os) =>
    createTools({ webSearch: { provider: "none", apiKey: "" } }, os).map(({ name }) => name);
  assertEquals(names("windows"), names("linux").filter((name) => name !== "exec"));
  assertEquals(names("linux").length - names("windows").length, 1);
});
