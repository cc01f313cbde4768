/**
 * Whether a manifest's default export is a descriptor, and one of the folder that it lies in.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import {
  CHANNEL_CAPABILITIES,
  type ChannelDescriptor,
  type ChannelPermissions,
  type SetupContract,
} from "./descriptor.ts";
import { placeholdersIn } from "./permission_fields.ts";
import { COMMON_FIELDS, FLAG_FIELDS } from "./setup/common_fields.ts";
import { isWildcardHost } from "../base/wildcard_host.ts";

/** Letters, digits and underscores of ASCII, a letter first. */
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Names that stand for who opened a turn where no channel did, in small letters. */
const OPENERS: readonly string[] = ["api", "automation", "cli", "mcp", "webui"];

/** Keys that stand beside the sections of channels, in small letters and without underscores. */
const KEYS_BESIDE: readonly string[] = [
  "allowlocalserviceaccess",
  "catchups",
  "sendmaxretries",
  ...FLAG_FIELDS.map((name) => name.toLowerCase()),
];

/** A field's name in camelCase, so that its snake_case is one other spelling and no third. */
const FIELD_NAME = /^[a-z][A-Za-z0-9]*$/;

/** A language as BCP 47 has it: of letters, with a script or region maybe. */
const LOCALE = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|\d{3}))?$/;

const text = z.string().trim().min(1);
const label = z.string().optional();

const form = z.strictObject({
  pattern: text.refine(isPattern, "a regular expression with the flag v"),
  expected: text,
}).optional();

const field = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("string"),
    format: z.enum(["url", "host", "phone"]).optional(),
    form,
    default: z.string().optional(),
    label,
  }),
  z.strictObject({ kind: z.literal("secret"), format: z.literal("token").optional(), label }),
  z.strictObject({
    kind: z.literal("int"),
    default: z.int().optional(),
    min: z.int().optional(),
    max: z.int().optional(),
    label,
  }),
  z.strictObject({ kind: z.literal("bool"), default: z.boolean().optional(), label }),
  z.strictObject({ kind: z.literal("list"), form, default: z.array(z.string()).optional(), label }),
  z.strictObject({
    kind: z.literal("enum"),
    choices: z.array(text).min(1),
    default: z.string().optional(),
    label,
  }),
]);

const descriptor = z.strictObject({
  name: z.string().regex(NAME, "a letter, then letters, digits and _, all ASCII"),
  displayName: text,
  runtime: z.string(),
  dependencies: z.array(
    z.string().regex(/^npm:(@[\w.-]+\/)?[\w.-]+@\d[\w.+-]*$/, "npm:<package>@<version>"),
  ),
  setup: z.strictObject({
    fields: z.record(z.string().min(1), field),
    required: z.array(z.strictObject({ fields: z.array(text).min(1) })),
    validator: z.string().optional(),
    summary: text.max(200).optional(),
    steps: z.array(text).optional(),
  }),
  management: z.strictObject({
    multiInstance: z.boolean(),
    adapter: z.string().optional(),
    identity: z.string().optional(),
  })
    .optional(),
  connector: z.string().optional(),
  capabilities: z.array(z.enum(CHANNEL_CAPABILITIES)),
  defaultActivation: z.boolean(),
  webui: z.string().regex(/^webui\/index\.tsx?$/, "webui/index.ts or webui/index.tsx").optional(),
  locales: z.array(z.string().regex(LOCALE, "a language such as de or zh-Hans")).refine(
    (tags) => new Set(tags).size === tags.length,
    "a language stands in it twice",
  ).optional(),
  permissions: z.strictObject({
    hosts: z.array(text),
    paths: z.array(text),
    variables: z.array(text),
  }),
  senderVerified: z.boolean(),
});

/**
 * The descriptor that lies in `channels/<folder>/manifest.ts`. Throws `config_invalid`: the message says
 * in which file what has to be changed.
 */
export function checkDescriptor(value: unknown, folder: string): ChannelDescriptor {
  if (value === undefined) {
    throw fault(folder, "", "it has no default export: expected export default manifest");
  }
  const parsed = descriptor.safeParse(value);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const name = path.map(String).join(".");
    throw fault(folder, name, `${name === "" ? "the default export" : name} is wrong: ${message}`);
  }
  const { data } = parsed;
  if (data.name !== folder) {
    throw fault(
      folder,
      "name",
      `name is "${data.name}" and the folder is "${folder}": rename one of them`,
    );
  }
  const small = folder.toLowerCase();
  if (OPENERS.includes(small) || KEYS_BESIDE.includes(small.replaceAll("_", ""))) {
    throw fault(
      folder,
      "name",
      `the name "${folder}" stands for something else already: choose another`,
    );
  }
  requireTarget(folder, "runtime", data.runtime, "runtime.ts");
  for (
    const [key, target] of [
      ["connector", data.connector],
      ["setup.validator", data.setup.validator],
      ["management.adapter", data.management?.adapter],
    ] as const
  ) if (target !== undefined) requireTarget(folder, key, target);
  requireSetup(folder, data.setup);
  const identity = data.management?.identity;
  if (identity !== undefined && !Object.hasOwn(data.setup.fields, identity)) {
    const what = `management.identity names "${identity}", which is no field`;
    throw fault(folder, "management.identity", what);
  }
  requirePlaceholders(folder, data.setup, data.permissions);
  requireWildcards(folder, data.permissions);
  return data;
}

/** A target stays inside its package: nothing that a manifest says makes another file run. */
function requireTarget(folder: string, key: string, target: string, file?: string): void {
  const [path, name, ...rest] = target.split(":");
  const inside = path === `channels/${folder}/${file ?? path?.split("/")[2]}` &&
    /^\w[\w-]*\.ts$/.test(path.split("/")[2]!);
  if (!inside || rest.length > 0 || !/^[A-Za-z_$][\w$]*$/.test(name ?? "")) {
    throw fault(
      folder,
      key,
      `${key} is ${JSON.stringify(target)}: expected ` +
        `"channels/${folder}/${file ?? "<file>.ts"}:<${file ? "Class" : "export"}>"`,
    );
  }
}

function requireSetup(folder: string, { fields, required }: SetupContract): void {
  for (const name of required.flatMap((one) => one.fields)) {
    if (!Object.hasOwn(fields, name)) {
      throw fault(folder, "setup.required", `setup.required names "${name}", which is no field`);
    }
  }
  for (const [name, spec] of Object.entries(fields)) {
    const key = `setup.fields.${name}`;
    if (!FIELD_NAME.test(name)) {
      throw fault(
        folder,
        key,
        `${key} is no name of a field: expected camelCase, such as botToken`,
      );
    }
    const common = Object.hasOwn(COMMON_FIELDS, name)
      ? COMMON_FIELDS[name as keyof typeof COMMON_FIELDS]
      : undefined;
    if (common !== undefined && spec.kind !== common.kind) {
      throw fault(
        folder,
        key,
        `${key}.kind is ${spec.kind}: every channel has that field, as ${common.kind}`,
      );
    }
    if (spec.kind === "int" && (spec.min ?? -Infinity) > (spec.max ?? Infinity)) {
      throw fault(folder, key, `${key}.min ${spec.min} is over its max ${spec.max}`);
    }
    if (spec.kind === "enum" && spec.default !== undefined) {
      if (!spec.choices.includes(spec.default)) {
        throw fault(folder, key, `${key}.default "${spec.default}" is none of its choices`);
      }
    }
    if (spec.kind === "int" && spec.default !== undefined) {
      if (spec.default < (spec.min ?? -Infinity) || spec.default > (spec.max ?? Infinity)) {
        throw fault(folder, key, `${key}.default ${spec.default} is not between its min and max`);
      }
    }
  }
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "v").flags === "v";
  } catch {
    return false;
  }
}

/** What a worker may reach is shown to whoever asks, so no secret may be a part of it. */
function requirePlaceholders(
  folder: string,
  { fields }: SetupContract,
  { hosts, paths }: ChannelPermissions,
): void {
  for (
    const [key, entries] of [["permissions.hosts", hosts], ["permissions.paths", paths]] as const
  ) {
    for (const name of entries.flatMap(placeholdersIn)) {
      const kind = Object.hasOwn(fields, name) ? fields[name]!.kind : undefined;
      if (kind === undefined) {
        throw fault(folder, key, `${key} names {${name}}, which is no field of setup.fields`);
      }
      if (kind === "secret" || kind === "bool") {
        throw fault(
          folder,
          key,
          `${key} names {${name}}, which is a ${kind}: expected a string, int, enum or list`,
        );
      }
    }
  }
}

/** What stands for many hosts names a domain that is the platform's own. */
function requireWildcards(folder: string, { hosts }: ChannelPermissions): void {
  const wrong = hosts.find((host) => host.includes("*") && !isWildcardHost(host));
  if (wrong === undefined) return;
  throw fault(
    folder,
    "permissions.hosts",
    `permissions.hosts has ${
      JSON.stringify(wrong)
    }: expected *.<domain> or *.<domain>:<port>, in small ` +
      "letters, with a domain of two labels or more that is no public suffix",
  );
}

function fault(folder: string, param: string, what: string): ServiceError {
  return new ServiceError(
    "config_invalid",
    `Cannot use channels/${folder}/manifest.ts: ${what}`,
    { param },
  );
}
