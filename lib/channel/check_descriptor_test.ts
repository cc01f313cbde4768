import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { checkDescriptor } from "./check_descriptor.ts";
import type { ChannelDescriptor } from "./descriptor.ts";

const GOOD: ChannelDescriptor = {
  name: "a_1",
  displayName: "A",
  runtime: "channels/a_1/runtime.ts:AChannel",
  dependencies: ["npm:grammy@1.2.3", "npm:@slack/web-api@7.0.0-rc.1"],
  setup: {
    fields: {
      token: { kind: "secret" },
      mode: { kind: "enum", choices: ["x", "y"], default: "x" },
      port: { kind: "int", default: 3, min: 1, max: 5 },
    },
    required: [{ fields: ["token", "mode"] }],
    validator: "channels/a_1/validation.ts:validate",
    steps: ["Make a bot."],
  },
  management: { multiInstance: true, adapter: "channels/a_1/instances.ts:adapter" },
  connector: "channels/a_1/connect.ts:connector",
  capabilities: ["streaming"],
  defaultActivation: false,
  webui: "webui/index.tsx",
  locales: ["de", "zh-Hans", "es-MX"],
  permissions: {
    hosts: ["api.example", "*.example.com", "*.chat.example:443"],
    paths: [],
    variables: [],
  },
  senderVerified: true,
};

Deno.test("checkDescriptor() gives back what is right", () => {
  assertEquals(checkDescriptor(GOOD, "a_1"), GOOD);
});

Deno.test("checkDescriptor() says of what is wrong what to change (C3, C4, C5, C13)", () => {
  const cases: [unknown, string][] = [
    [undefined, "no default export"],
    [null, "the default export"],
    [{ ...GOOD, extra: 1 }, "extra"],
    [{ ...GOOD, name: "b" }, 'name is "b" and the folder is "a_1"'],
    [{ ...GOOD, displayName: " " }, "displayName"],
    [{ ...GOOD, runtime: "channels/b/runtime.ts:AChannel" }, '"channels/a_1/runtime.ts:<Class>"'],
    [{ ...GOOD, runtime: "channels/a_1/../b/runtime.ts:X" }, "runtime"],
    [{ ...GOOD, runtime: "channels/a_1/runtime.ts" }, "runtime"],
    [{ ...GOOD, runtime: "channels/a_1/runtime.ts:A:B" }, "runtime"],
    [{ ...GOOD, runtime: "https://example/runtime.ts:A" }, "runtime"],
    [{ ...GOOD, connector: "channels/a_1/..:x" }, "connector"],
    [{ ...GOOD, connector: "channels/a_1/deep/x.ts:x" }, "connector"],
    [{ ...GOOD, dependencies: ["npm:grammy"] }, "npm:<package>@<version>"],
    [{ ...GOOD, dependencies: ["https://x/y.ts"] }, "dependencies.0"],
    [{ ...GOOD, capabilities: ["fly"] }, "capabilities.0"],
    [{ ...GOOD, webui: "index.ts" }, "webui"],
    [{ ...GOOD, permissions: undefined }, "permissions"],
    [{ ...GOOD, management: { multiInstance: true, identity: "phone" } }, 'names "phone"'],
    [{ ...GOOD, locales: ["../de"] }, "locales.0"],
    [{ ...GOOD, locales: ["de", "de"] }, "twice"],
    ...[
      "*",
      "*.com",
      "*.co.uk",
      "*.github.io",
      "*.us-east-1.amazonaws.com",
      "*.127.0.0.1.nip.io",
      "*.xn--80ak6aa92e.*",
      "*.аpple.com",
      "*.1.2.3.4",
      "a.*.com",
      "*.a.b:0",
      "*.a.b:99999",
      "*.A.b",
      "*.-a.b",
    ]
      .map((host): [unknown, string] => [
        { ...GOOD, permissions: { hosts: [host], paths: [], variables: [] } },
        `permissions.hosts has "${host}"`,
      ]),
    [
      { ...GOOD, permissions: { hosts: ["*.{mode}"], paths: [], variables: [] } },
      'permissions.hosts has "*.{mode}"',
    ],
    [{ ...GOOD, setup: { fields: {}, required: [{ fields: ["token"] }] } }, '"token"'],
    [
      {
        ...GOOD,
        setup: { fields: { m: { kind: "enum", choices: ["x"], default: "z" } }, required: [] },
      },
      '"z" is none',
    ],
    [
      { ...GOOD, setup: { fields: { m: { kind: "int", default: 9, max: 3 } }, required: [] } },
      "not between",
    ],
    [
      {
        ...GOOD,
        setup: {
          fields: { m: { kind: "list", form: { pattern: "(", expected: "x" } } },
          required: [],
        },
      },
      "expression with the flag v",
    ],
    [
      { ...GOOD, setup: { fields: { m: { kind: "int", min: 9, max: 3 } }, required: [] } },
      "over its max",
    ],
    [
      { ...GOOD, setup: { fields: { bot_token: { kind: "string" } }, required: [] } },
      "setup.fields.bot_token is no name of a field",
    ],
    [
      { ...GOOD, setup: { fields: { allowFrom: { kind: "string" } }, required: [] } },
      "every channel has that field, as list",
    ],
    [
      { ...GOOD, permissions: { hosts: ["{server}:443"], paths: [], variables: [] } },
      "names {server}, which is no field",
    ],
    [
      { ...GOOD, permissions: { hosts: [], paths: ["/a/{token}"], variables: [] } },
      "names {token}, which is a secret",
    ],
    [{ ...GOOD, setup: { fields: { m: { kind: "date" } }, required: [] } }, "setup.fields.m"],
  ];
  for (const [value, words] of cases) {
    const error = assertThrows(() => checkDescriptor(value, "a_1"), ServiceError);
    assertEquals(error.code, "config_invalid");
    assertStringIncludes(error.message, "channels/a_1/manifest.ts");
    assertStringIncludes(error.message, words);
  }
  for (const name of ["google-chat", "1abc", "", "tëst"]) {
    assertThrows(() => checkDescriptor({ ...GOOD, name }, name), ServiceError, "ASCII");
  }
  for (const name of ["cli", "API", "sendProgress", "send_progress"]) {
    const runtime = `channels/${name}/runtime.ts:AChannel`;
    assertThrows(
      () => checkDescriptor({ ...GOOD, name, runtime }, name),
      ServiceError,
      "stands for something else already",
    );
  }
});
