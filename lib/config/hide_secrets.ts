/**
 * Problems of a configuration without the values of secrets that stand in it. A key that is no secret
 * by itself may still hold one, and its problem says what stands there.
 *
 * @module
 */

import { isWithin } from "../base/key_path.ts";
import type { Problem } from "./problem.ts";
import type { SecretReference } from "./references.ts";

/** Problems that were found with the values in place, fit to be shown. */
export function hideSecrets(
  problems: readonly Problem[],
  secrets: readonly SecretReference[],
): Problem[] {
  if (secrets.length === 0) return [...problems];
  const names = new Map<string, string>();
  for (const { secret: { name, value } } of secrets) {
    for (const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]) {
      names.set(form.toLowerCase(), name);
    }
  }
  // The longest first: one secret may begin with another. Hosts are told in small letters.
  const forms = [...names.keys()].toSorted((a, b) => b.length - a.length);
  const any = new RegExp(forms.map((form) => RegExp.escape(form)).join("|"), "gi");
  return problems.map((problem) => {
    const message = problem.message.replace(
      any,
      (form) => `\${secret:${names.get(form.toLowerCase())}}`,
    );
    const here = secrets.filter(({ path }) =>
      isWithin(path, problem.path) || isWithin(problem.path, path)
    );
    // What is said of the text itself may hold a part of a value, too.
    if (here.length === 0 || !holdsPart(message, forms)) return { ...problem, message };
    const list = new Set(here.map(({ secret: { name } }) => `\${secret:${name}}`));
    return { ...problem, message: `what it is with ${[...list].join(", ")} cannot stand there` };
  });
}

/** Characters that a message may have in common with a value. */
const COMMON_CHARS = 3;

function holdsPart(message: string, forms: readonly string[]): boolean {
  const text = message.toLowerCase();
  for (let at = 0; at + COMMON_CHARS < text.length; at++) {
    const part = text.slice(at, at + COMMON_CHARS + 1);
    if (forms.some((form) => form.includes(part))) return true;
  }
  return false;
}
