import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkArgs } from "../gate/resolve_touch.ts";
import { exec } from "../tools/exec.ts";
import { areReferencesWhole, fillSecrets, secretsNamedIn } from "./secret_references.ts";
import type { Tool } from "../contract/tool.ts";
import { webFetch } from "../tools/web_fetch.ts";

const LONGEST = "A".repeat(64);

Deno.test("secretsNamedIn() names each secret once, and fillSecrets() fills in what it is given, once", () => {
  const text = "${secret:A} ${secret:B_2}${secret:A} $secret:C ${secret:lower} " +
    `\${secret:${LONGEST}} \${secret:${LONGEST}A}`;
  assertEquals(secretsNamedIn(text), ["A", "B_2", LONGEST]);
  const values = new Map([["A", "${secret:B_2}"], ["B_2", "b$&"]]);
  assertEquals(
    fillSecrets("${secret:A}-${secret:B_2}-${secret:D}", values),
    [
      "${secret:B_2}",
      "b$&",
      "${secret:D}",
    ].join("-"),
  );
  assert(areReferencesWhole("Bearer ${secret:A}"));
  for (const text of ["${secret:A", "${secret:a}", "${ secret:A}", "${SECRET:A}"]) {
    assert(!areReferencesWhole(text), text);
  }
});

Deno.test("exec and web_fetch say of names of secrets, hosts and headers what they have to be", () => {
  const url = "https://a.example/";
  const cases: [Tool, unknown, string[]][] = [
    [exec, { command: "env", secrets: ["token"] }, ["secrets.0: ", "A-Z, 0-9 and _"]],
    [exec, { command: "env", hosts: ["*.a.example"] }, ["hosts.0: ", "<host>:<port>, such as"]],
    [webFetch, { url, headers: { Host: "b.example" } }, [
      "headers.Host: ",
      "leave out",
      "transfer-encoding",
    ]],
    [webFetch, { url, headers: { "X-Key": "${secret:key}" } }, [
      "headers.X-Key: ",
      "A-Z, 0-9 and _",
    ]],
  ];
  for (const [tool, args, parts] of cases) {
    const checked = checkArgs(tool, args);
    assert("problem" in checked);
    for (const part of parts) assertStringIncludes(checked.problem, part);
  }
});
