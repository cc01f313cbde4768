/**
 * Findings of dry runs on the disk, the newest of each automation: what is granted later is what stands
 * here, whatever restarts come between.
 *
 * @module
 */

import { z } from "zod";
import { type Finding, findingSchema } from "../contract/finding.ts";
import { isDamaged } from "./damaged.ts";
import type { SealedFile } from "./sealed_file.ts";

/**
 * The findings of a home. A damaged file is set aside, with a record: what is in it grants nothing, and a
 * dry run can be had again.
 */
export interface FindingStore {
  /** The newest of an automation; none while the file is damaged. */
  find(automationId: string): Finding | undefined;
  /** In place of the automation's last one. The oldest of others make room. */
  put(finding: Finding): Promise<void>;
  /** Of an automation that is gone. */
  remove(automationId: string): Promise<void>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
}

/** Findings that are kept at once. */
const MAX_FINDINGS = 1_000;

/** Characters of all findings as JSON; the file takes more. */
const MAX_CHARS = 3 * 1024 * 1024;

const findingsSchema = z.array(findingSchema);

/** What the file of findings holds. */
export const parseFindings = (value: unknown): readonly Finding[] => findingsSchema.parse(value);

/** Keeps findings in a file. */
export function createFindingStore(file: SealedFile<readonly Finding[]>): FindingStore {
  const update: typeof file.update = async (change) => {
    const state = file.read();
    if (isDamaged(state) && !state.isNewer) await file.reset(undefined, { keepKey: true });
    return await file.update(change);
  };
  const without = (all: readonly Finding[], automationId: string) =>
    all.filter((each) => each.automationId !== automationId);
  return {
    find(automationId) {
      const state = file.read();
      if (isDamaged(state)) return undefined;
      const found = state.value.find((each) => each.automationId === automationId);
      return found && structuredClone(found);
    },
    async put(finding) {
      const { id, automationId, automationDigest, digest, outcome, by, actions, left, grants } =
        finding;
      await update((all) => ({
        value: newest([...without(all, automationId), finding]),
        records: [{
          kind: "commission.finished",
          data: {
            commission: id,
            automation: automationId,
            automationDigest,
            digest,
            outcome,
            by,
            actions: actions.length,
            left,
            grants: grants.length,
          },
        }],
        result: undefined,
      }));
    },
    async remove(automationId) {
      await update((all) => {
        const value = without(all, automationId);
        return { value: value.length === all.length ? undefined : value, result: undefined };
      });
    },
    damaged() {
      const state = file.read();
      return isDamaged(state) ? state.damaged : undefined;
    },
  };
}

/** As many of the last ones as may be kept. */
function newest(all: readonly Finding[]): Finding[] {
  const kept: Finding[] = [];
  let chars = 0;
  for (const finding of [...all].reverse()) {
    chars += JSON.stringify(finding).length;
    if (kept.length >= MAX_FINDINGS || (chars > MAX_CHARS && kept.length > 0)) break;
    kept.push(finding);
  }
  return kept.reverse();
}
