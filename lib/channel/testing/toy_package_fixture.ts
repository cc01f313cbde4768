/**
 * Packages of the toy in a folder of their own: right ones, and ones that are wrong in one way.
 *
 * @module
 */

import { toFileUrl } from "@std/path";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { ChannelFinding } from "./channel_check.ts";
import { checkChannel } from "./check_channel.ts";
import { ToyPlatform } from "./toy_channel_fixture.ts";

/** How a package differs from the right one. */
export interface ToyPackage {
  /** Members of its class. */
  runtime?: string;
  /** Fields of its manifest. */
  manifest?: Partial<ChannelDescriptor>;
  /** Text of whole files; null leaves one out. */
  files?: Readonly<Record<string, string | null>>;
  /** A platform of the test's own. */
  openPlatform?: () => Promise<ToyPlatform>;
}

export const TOY_MANIFEST: ChannelDescriptor = {
  name: "toy",
  displayName: "Toy",
  runtime: "channels/toy/runtime.ts:ToyChannel",
  dependencies: [],
  setup: {
    fields: {
      hub: { kind: "string" },
      token: { kind: "secret" },
      tone: { kind: "enum", choices: ["loud", "quiet"], default: "loud" },
    },
    required: [{ fields: ["hub"] }],
    validator: "channels/toy/validate.ts:validate",
    steps: ["Switch it on."],
  },
  management: { multiInstance: true, adapter: "channels/toy/instances.ts:instances" },
  connector: "channels/toy/connect.ts:connector",
  capabilities: ["streaming", "media", "typing", "buttons", "catch_up"],
  locales: ["de"],
  defaultActivation: false,
  permissions: { hosts: [], paths: [], variables: [] },
  senderVerified: true,
};

/** A language of it, which differs in something. */
export function toyLocale(changes: object = {}): string {
  const fields = Object.keys(TOY_MANIFEST.setup.fields);
  return JSON.stringify({
    language: "Deutsch",
    fields: Object.fromEntries(fields.map((name) => [name, { label: name }])),
    steps: ["Schalte es ein."],
    words: { approve: "Erlauben" },
    ...changes,
  });
}

const VALIDATE = `
export async function validate(values, _context) {
  return values.hub ? [] : [{ level: "warning", field: "hub", message: "hub is not set" }];
}
`;

const INSTANCES = `
export const instances = {
  instanceSpecs: (section) => {
    for (const account of Object.values(section.accounts ?? {})) {
      if (typeof account !== "object") throw new Error("an account is no object");
    }
    return [{ instanceId: "default", config: section }];
  },
  updateInstanceConfig: (section, values) => ({ ...section, ...values }),
};
`;

const CONNECT = `
let state = "cancelled";
let polls = 0;
export const connector = {
  handle(action) {
    state = action === "start" ? "waiting" : action === "cancel" ? "cancelled" : state;
    if (action === "poll" && state === "waiting" && polls++ > 0) state = "connected";
    return Promise.resolve({ state, message: "scan the code", show: { qr: "toy:1" } });
  },
};
`;

const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** The text of its runtime. */
function toyRuntime(body: string): string {
  return `
import { PermanentDeliveryError } from ${here("../delivery_error.ts")};
import { ToyBase } from ${here("toy_channel_fixture.ts")};
void PermanentDeliveryError;
export class ToyChannel extends ToyBase {
${body}
}
`;
}

/** What the checks say of a package; all that apply, or one. */
export async function findingsOf(
  { runtime = "", manifest = {}, files = {}, openPlatform }: ToyPackage = {},
  only?: readonly string[],
  patienceMs?: number,
): Promise<ChannelFinding[]> {
  const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "toy-" }));
  const folder = `${home}/toy`;
  try {
    await Deno.mkdir(`${folder}/locales`, { recursive: true });
    const texts: Record<string, string | null> = {
      "manifest.ts": `export default ${JSON.stringify({ ...TOY_MANIFEST, ...manifest })};`,
      "runtime.ts": toyRuntime(runtime),
      "validate.ts": VALIDATE,
      "instances.ts": INSTANCES,
      "connect.ts": CONNECT,
      "locales/de.json": toyLocale(),
      ...files,
    };
    for (const [file, text] of Object.entries(texts)) {
      if (text !== null) await Deno.writeTextFile(`${folder}/${file}`, text);
    }
    return await checkChannel({
      folder: toFileUrl(`${folder}/`),
      openPlatform: openPlatform ?? (() => Promise.resolve(new ToyPlatform())),
      // A platform in memory runs in no Worker; tests/example_channel_test.ts tries channel workers.
      exempt: { place: "in memory" },
      patienceMs,
    }, only);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}
