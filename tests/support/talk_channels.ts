/**
 * A copy of the program with channels of tests in it: each talks lines with a platform that a test is
 * (`LinePlatform`), and its runtime is loaded in a worker as any other.
 *
 * @module
 */

import type { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import type { ChannelCapability } from "../../lib/channel/descriptor.ts";
import { Happenings } from "./happenings.ts";
import { copyProject, type ProjectCopy } from "./project_copy.ts";

/** What one of them is. */
export interface TalkPackage {
  name: string;
  capabilities?: readonly ChannelCapability[];
  /** Default false. */
  senderVerified?: boolean;
  /** Lines that its `start` begins with. */
  startsWith?: string;
}

/** The channels of the tests. */
const PACKAGES: readonly TalkPackage[] = [
  { name: "talk" },
  { name: "chat" },
  { name: "repeatable", capabilities: ["idempotent_send"] },
  { name: "vouched", senderVerified: true },
  { name: "unlisted", senderVerified: true },
  { name: "unlucky", startsWith: 'return Promise.reject(new Error("no luck today"));' },
  { name: "exits", startsWith: "Deno.exit(1);" },
];

/**
 * A copy with the channels of all tests. The gate makes one for all of its files, since Deno compiles each
 * copy anew.
 */
export async function testProject(): Promise<Pick<ProjectCopy, "root"> & AsyncDisposable> {
  const root = Deno.env.get("SERVICE_TEST_PROJECT");
  if (root === undefined) return await talkProject(PACKAGES);
  return { root, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Makes a copy; removed when disposed. */
export async function talkProject(packages: readonly TalkPackage[]): Promise<ProjectCopy> {
  const project = await copyProject();
  for (const each of packages) {
    const folder = `${project.root}channels/${each.name}`;
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/manifest.ts`, manifestOf(each));
    await Deno.writeTextFile(`${folder}/runtime.ts`, runtimeOf(each));
  }
  await project.deno("run", "-A", "--cached-only", "--no-check", "channels/generate_mod.ts");
  return project;
}

/** The section of one that talks with this platform; its senders are all `ann`. */
export function talkSection({ port }: LinePlatform): Record<string, unknown> {
  return { enabled: true, allowFrom: ["ann"], port };
}

/** Told of each line that comes to the platform. */
export function happeningsOf(platform: LinePlatform): Happenings {
  const happenings = new Happenings();
  platform.onLine = () => happenings.note();
  return happenings;
}

/** Texts that came for a chat, in order. */
export function textsOf({ given }: LinePlatform, chat: string): string[] {
  return given.filter((each) => each.chat === chat).map(({ content }) => content);
}

function manifestOf({ name, capabilities = [], senderVerified = false }: TalkPackage): string {
  const descriptor = {
    name,
    displayName: `Test ${name}`,
    runtime: `channels/${name}/runtime.ts:TalkChannel`,
    dependencies: [],
    setup: {
      fields: { port: { kind: "int", default: 1 }, secret: { kind: "secret" } },
      required: [],
    },
    capabilities,
    defaultActivation: false,
    permissions: { hosts: ["127.0.0.1:{port}"], paths: [], variables: [] },
    senderVerified,
  };
  return `export default ${JSON.stringify(descriptor)};\n`;
}

/** Shows what waits for a person as well. */
function runtimeOf({ startsWith = "" }: TalkPackage): string {
  return `import { LineRuntime } from "../../lib/delivery/manager/testing/line_runtime.ts";

export class TalkChannel extends LineRuntime {
  override start() {
    ${startsWith}
    return super.start();
  }
  override send({ event, ...message }) {
    return super.send(event?.type === "approval" ? message : { ...message, event });
  }
}
`;
}
