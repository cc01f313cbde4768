/**
 * What has to hold of a package's files.
 *
 * @module
 */

import { BaseChannel } from "../../base_channel.ts";
import { type ChannelLocale, checkLocale } from "../../../registry/locales/channel_locale.ts";
import { instancesOf } from "../../management/instances_of.ts";
import { switchSection, updateSection } from "../../management/update_section.ts";
import type { Section } from "../../management.ts";
import { loadExport } from "../../../channel_worker/load_export.ts";
import { makeRuntime } from "../../../channel_worker/make_runtime.ts";
import { readSection } from "../../setup/read_section.ts";
import { Broken, type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import { type ChannelSubject, LOADING } from "../channel_subject.ts";
import { loadAlone, moduleGraph } from "../load_alone.ts";
import { configFor, onTrial } from "../trial.ts";
import { FakeHost } from "../fake_host.ts";

export const PACKAGE_CHECKS: readonly ChannelCheck[] = [
  {
    id: "manifest",
    rule:
      "manifest.ts exports a descriptor of its own folder, and every file that it names is there.",
    says: "the manifest cannot be used",
    ofPackage: true,
    run: async (subject) => void await subject.usable(),
  },
  {
    id: "manifest_alone",
    rule:
      "manifest.ts and the adapter of instances load without a permission, and bring no package and no " +
      "runtime with them.",
    says: "the manifest or the adapter needs more than itself; import nothing there but types",
    ofPackage: true,
    run: manifestAlone,
  },
  {
    id: "modules",
    rule: "Runtime, validator and connector are what the manifest says, and of their shape.",
    says: "a module is not what the manifest names",
    run: modulesFit,
  },
  {
    id: "instances",
    rule:
      "The adapter gives instances with ids and runtime names of their own, changes one and no other (C18), " +
      "and throws for stored data that is malformed (C20).",
    says: "the adapter breaks an invariant of instances",
    ofPackage: true,
    run: instancesFit,
  },
  {
    id: "capabilities",
    rule: "The manifest lists streaming and reasoning where the runtime has them, and only there.",
    says: "the capabilities of the manifest are not those of the runtime",
    run: capabilitiesFit,
  },
  {
    id: "locales",
    rule:
      "locales of the manifest are the files locales/<language>.json; each has a label for each field of the " +
      "setup, a summary and as many steps as the manifest has, and the same words.",
    says: "a language of the package is not whole; add what it lacks, or take it out",
    ofPackage: true,
    run: localesFit,
  },
  {
    id: "defaults",
    rule: "defaultConfig() gives values of fields of the contract, of their kinds.",
    says: "defaultConfig() has to give what the section may hold",
    run: defaultsFit,
  },
  {
    id: "choices",
    rule: "Each choice of an enum is accepted by the runtime's constructor (C36).",
    says: "a choice of the manifest is none for the runtime; take it out of choices, or accept it",
    run: choicesFit,
  },
];

async function manifestAlone(subject: ChannelSubject): Promise<void> {
  const { descriptor: { management } } = await subject.usable();
  const adapter = management?.adapter?.match(/([^/:]+):/)?.[1];
  for (const file of ["manifest.ts", ...adapter === undefined ? [] : [adapter]]) {
    const module = new URL(file, subject.folder);
    const strangers = (await moduleGraph(module)).filter((one) =>
      !one.startsWith("file:") || one === new URL("runtime.ts", subject.folder).href
    );
    expect(strangers.length === 0, `${file} brings ${strangers.slice(0, 3).join(", ")} with it`);
    const problem = await loadAlone(module);
    expect(problem === undefined, `${file} does not load without permissions: ${problem}`);
  }
}

async function modulesFit(subject: ChannelSubject): Promise<void> {
  const { validator, connector } = await subject.usable();
  await subject.runtime();
  for (const [kind, target] of [["validator", validator], ["connector", connector]] as const) {
    if (target === undefined) continue;
    await loadExport({ ...target, kind }, LOADING).catch((error) => {
      throw new Broken(wordsOf(error));
    });
  }
}

async function instancesFit(subject: ChannelSubject): Promise<void> {
  const channel = await subject.usable();
  if (channel.adapter === undefined) return;
  const { sections, malformed } = subject.instances;
  for (const section of sections) {
    try {
      for (const { instanceId } of instancesOf(channel, section)) {
        // Whoever changes one gets an error where the adapter does more than that.
        const change = { channel, section, instanceId };
        updateSection({ ...change, values: { allowFrom: ["kit"] } });
        switchSection({ ...change, enabled: false });
      }
    } catch (error) {
      throw new Broken(`of the section ${JSON.stringify(section)}: ${wordsOf(error)}`);
    }
  }
  for (const section of malformed) {
    const change = { channel, section, instanceId: "default", values: { allowFrom: ["kit"] } };
    for (const use of [() => instancesOf(channel, section), () => updateSection(change)]) {
      expect(throws(use), `it takes the section ${JSON.stringify(section)}, which is malformed`);
    }
  }
}

function throws(use: () => unknown): boolean {
  try {
    use();
    return false;
  } catch {
    return true;
  }
}

function capabilitiesFit(subject: ChannelSubject): Promise<void> {
  return onTrial(subject, ({ channel, descriptor: { capabilities } }) => {
    for (
      const [capability, has, member] of [
        ["streaming", channel.sendDelta !== undefined, "sendDelta"],
        [
          "reasoning",
          // Thoughts come piece by piece where answers do, and whole by sendReasoning() elsewhere.
          channel.sendReasoningDelta !== BaseChannel.prototype.sendReasoningDelta,
          "sendReasoningDelta",
        ],
      ] as const
    ) {
      const lists = capabilities.includes(capability);
      expect(
        lists === has,
        lists
          ? `the manifest lists "${capability}" and the runtime has no ${member}()`
          : `the runtime has ${member}() and the manifest does not list "${capability}"`,
      );
    }
    return Promise.resolve();
  });
}

async function localesFit(subject: ChannelSubject): Promise<void> {
  const { descriptor, locales = {}, folder } = await subject.usable();
  const named = descriptor.locales ?? [];
  const files = Object.keys(locales).toSorted();
  expect(
    named.toSorted().join() === files.join(),
    `the manifest names ${named.join(", ") || "none"}, and there are ${files.join(", ") || "none"}`,
  );
  let first: { tag: string; words: readonly string[] } | undefined;
  for (const tag of named) {
    const value = await locales[tag]!().catch((error) => {
      throw new Broken(`locales/${tag}.json: ${wordsOf(error)}`);
    });
    const { setup } = descriptor;
    let locale: ChannelLocale;
    try {
      locale = checkLocale(value.default, { folder, tag, setup });
    } catch (error) {
      throw new Broken(wordsOf(error));
    }
    const english = setup.steps?.length ?? 0;
    expect(
      locale.steps.length === english,
      `${tag} has ${locale.steps.length} steps, and setup.steps of the manifest ${english}`,
    );
    expect(
      (locale.summary === undefined) === (setup.summary === undefined),
      `summary is in one of locales/${tag}.json and the manifest's setup alone`,
    );
    const words = Object.keys(locale.words).toSorted();
    first ??= { tag, words };
    const other = words.find((word) => !first!.words.includes(word)) ??
      first.words.find((word) => !words.includes(word));
    expect(other === undefined, `words.${other} is in one of ${first.tag} and ${tag} alone`);
  }
}

async function defaultsFit(subject: ChannelSubject): Promise<void> {
  const descriptor = await subject.descriptor();
  const Runtime = await subject.runtime();
  const defaults: unknown = Runtime.defaultConfig();
  const isObject = typeof defaults === "object" && defaults !== null && !Array.isArray(defaults);
  expect(isObject, "it gives no object");
  const { unknown, problems } = readSection(defaults as Section, descriptor);
  expect(unknown.length === 0, `"${unknown[0]}" is no field`);
  expect(problems.length === 0, `${problems[0]?.message}`);
}

async function choicesFit(subject: ChannelSubject): Promise<void> {
  const descriptor = await subject.descriptor();
  const Runtime = await subject.runtime();
  const platform = await subject.openPlatform();
  const host = await FakeHost.open({ name: descriptor.name });
  try {
    for (const [field, spec] of Object.entries(descriptor.setup.fields)) {
      if (spec.kind !== "enum") continue;
      for (const choice of spec.choices) {
        const config = configFor(descriptor, platform, { [field]: choice });
        try {
          makeRuntime(Runtime, config, host);
        } catch (error) {
          throw new Broken(`${field} "${choice}": its constructor throws: ${wordsOf(error)}`);
        }
      }
    }
  } finally {
    await platform.close();
    await host.close();
  }
}
