/**
 * What the conformance kit finds wrong with a package.
 *
 * @module
 */

import { Broken, type ChannelCheck, type ChannelFinding, wordsOf } from "./channel_check.ts";
import type { ChannelPlatform } from "./channel_platform.ts";
import { ChannelSubject, type InstanceExamples } from "./channel_subject.ts";
import { CHANNEL_CHECKS } from "./checks/mod.ts";

/** How a package is tested. */
export interface ChannelTestOptions {
  /** Folder of the package: `new URL("./", import.meta.url)`. */
  folder: URL;
  /**
   * Opens the platform that a check talks to; each has one of its own. Absent for a channel that runs in
   * the service itself: its files alone are checked then.
   */
  openPlatform?: () => Promise<ChannelPlatform>;
  /**
   * Sections that the adapter of instances is tried on, and malformed ones that it has to throw for; by
   * default an empty one, and those that `accountsAdapter` takes and refuses.
   */
  instances?: InstanceExamples;
  /** Ids of checks that do not apply, each with the reason. */
  exempt?: Readonly<Record<string, string>>;
  /** How long is waited for what the platform or the channel does, milliseconds; default 10,000. */
  patienceMs?: number;
}

const PATIENCE_MS = 30_000;

const ACCOUNTS: InstanceExamples = {
  sections: [
    {},
    { enabled: true },
    { enabled: true, accounts: { work: {}, home: { enabled: false, allowFrom: ["a"] } } },
  ],
  malformed: [{ accounts: "work" }, { accounts: { work: 1 } }],
};

/** What is tested. */
export function subjectOf(
  { folder, openPlatform, instances = ACCOUNTS, patienceMs = PATIENCE_MS }: ChannelTestOptions,
): ChannelSubject {
  const url = folder.href.endsWith("/") ? folder : new URL(`${folder.href}/`);
  return new ChannelSubject({ folder: url, openPlatform, instances, patienceMs });
}

/** The checks that apply. Throws RangeError for one that is exempt and that there is not. */
export function checksFor(
  { openPlatform, exempt = {} }: Pick<ChannelTestOptions, "openPlatform" | "exempt">,
): ChannelCheck[] {
  for (const [id, reason] of Object.entries(exempt)) {
    if (!CHANNEL_CHECKS.some((check) => check.id === id)) {
      throw new RangeError(`Cannot leave out "${id}": there is no such check`);
    }
    if (reason.trim() === "") throw new RangeError(`Cannot leave out "${id}": it needs a reason`);
  }
  return CHANNEL_CHECKS.filter(({ id, ofPackage }) =>
    !Object.hasOwn(exempt, id) && (ofPackage === true || openPlatform !== undefined)
  );
}

/** Runs one check. Resolves with what is wrong; undefined where nothing is. Never rejects. */
export async function runCheck(
  check: ChannelCheck,
  subject: ChannelSubject,
): Promise<ChannelFinding | undefined> {
  try {
    if (await applies(check, subject)) await check.run(subject);
    return undefined;
  } catch (error) {
    const seen = error instanceof Broken ? error.message : `the check failed: ${wordsOf(error)}`;
    return { check: check.id, message: `${subject.name}: ${check.says} (${seen})` };
  }
}

/** Runs every check that applies, or those that are named, one after the other. */
export async function checkChannel(
  options: ChannelTestOptions,
  only?: readonly string[],
): Promise<ChannelFinding[]> {
  const subject = subjectOf(options);
  const findings: ChannelFinding[] = [];
  for (const check of checksFor(options)) {
    if (only !== undefined && !only.includes(check.id)) continue;
    const finding = await runCheck(check, subject);
    if (finding !== undefined) findings.push(finding);
  }
  return findings;
}

/** Whether the package and its platform have what the check is about. Rejects for a missing hook. */
async function applies(check: ChannelCheck, subject: ChannelSubject): Promise<boolean> {
  const { capability, ifOffered } = check;
  if (capability !== undefined) {
    const { capabilities } = await subject.descriptor();
    if (!capabilities.includes(capability)) return false;
  }
  if (ifOffered !== undefined) {
    const platform = await subject.openPlatform();
    await platform.close();
    if (platform[ifOffered] === undefined) return false;
  }
  await requireHooks(check, subject);
  return true;
}

async function requireHooks({ id, needs = [] }: ChannelCheck, subject: ChannelSubject) {
  if (needs.length === 0) return;
  const platform = await subject.openPlatform();
  await platform.close();
  const missing = needs.find((hook) => platform[hook] === undefined);
  if (missing === undefined) return;
  throw new Broken(
    `the platform of the test has no ${missing}: give it one, or name ${id} under exempt with the reason`,
  );
}
