/**
 * The bill of materials of a release, as CycloneDX 1.6: every package in the programs, with its hash and
 * licence, and Deno (https://cyclonedx.org/docs/1.6/json/).
 *
 * @module
 */

import { CHANNELS } from "../channels/mod.ts";
import { VERSION } from "../cli/version.ts";
import { ROOT } from "../lib/base/layout.ts";
import { type Lock, lockedClosure } from "../lib/packages/locked_closure.ts";
import { packageFolder, registriesIn } from "../lib/packages/missing_packages.ts";
import { MAIN_JOB, MCP, notHeld } from "../lib/packages/wanted_packages.ts";
import { openRegistry } from "../lib/registry/open_registry.ts";
import { DENO_VERSION } from "./targets.ts";

/** Name of the file. */
export const SBOM = `service-${VERSION}.cdx.json`;

/** A package of the programs. */
interface Component {
  type: "library" | "platform";
  "bom-ref": string;
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: "SHA-512"; content: string }[];
  licenses?: ({ expression: string } | { license: { name: string } })[];
}

/** What is read of the lock. */
type LockWithHashes = Lock & { npm: Record<string, { integrity?: string }> };

/** Its text. `denoDir`: where packages lie, for their licences. `time`: of the release. */
export async function sbom({ denoDir, time }: { denoDir: string; time: Date }): Promise<string> {
  const lock: LockWithHashes = JSON.parse(await Deno.readTextFile(new URL("deno.lock", ROOT)));
  const { usable } = await openRegistry(CHANNELS);
  const wanted = [
    ...MAIN_JOB,
    ...MCP,
    ...[...usable.values()].flatMap(({ descriptor }) => descriptor.dependencies),
  ];
  const fetched = new Set(notHeld(wanted, { isBuilt: true }));
  const hashes = integrities(lock);
  const registries = registriesIn(denoDir);
  const components: Component[] = [
    ...lockedClosure(wanted.filter((each) => !fetched.has(each)), lock).toSorted().map((id) =>
      component(id, hashes, registries)
    ),
    {
      type: "platform",
      "bom-ref": `pkg:github/denoland/deno@v${DENO_VERSION}`,
      name: "deno",
      version: DENO_VERSION,
      purl: `pkg:github/denoland/deno@v${DENO_VERSION}`,
      licenses: [{ expression: "MIT" }],
    },
  ];
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: time.toISOString(),
      component: {
        type: "application",
        "bom-ref": `service@${VERSION}`,
        name: "service",
        version: VERSION,
        licenses: [{ expression: "MIT" }],
      },
    },
    components,
    dependencies: [{
      ref: `service@${VERSION}`,
      dependsOn: components.map((each) => each["bom-ref"]),
    }],
  };
  return JSON.stringify(bom, null, 2) + "\n";
}

/** By `<name>@<version>`, without what the peers of a package are. */
function integrities({ npm }: LockWithHashes): Map<string, string> {
  return new Map(
    Object.entries(npm).flatMap(([id, { integrity }]) =>
      integrity === undefined ? [] : [[id.replace(/(?<=.@[^_]*)_.*/, ""), integrity] as const]
    ),
  );
}

function component(
  id: string,
  hashes: ReadonlyMap<string, string>,
  registries: readonly string[],
): Component {
  const [, name, version] = /^(.+)@([^@]+)$/.exec(id)!;
  const purl = `pkg:npm/${name!.replace("@", "%40")}@${version}`;
  const [, base64] = /^sha512-(.+)$/.exec(hashes.get(id) ?? "") ?? [];
  const license = licenseOf(packageFolder(id, registries));
  return {
    type: "library",
    "bom-ref": purl,
    name: name!,
    version: version!,
    purl,
    hashes: base64 === undefined
      ? undefined
      : [{ alg: "SHA-512", content: Uint8Array.fromBase64(base64).toHex() }],
    licenses: license && [license],
  };
}

/** What a package says of its licence, where it lies on this machine. */
function licenseOf(folder: string | undefined) {
  if (folder === undefined) return undefined;
  const { license } = JSON.parse(Deno.readTextFileSync(`${folder}/package.json`));
  if (typeof license !== "string") return undefined;
  return /^SEE LICENSE/i.test(license) ? { license: { name: license } } : { expression: license };
}
