/**
 * Takes values of secrets out of what tools give back, whatever way they came there: a file that holds a
 * key, a command that prints one (decisions E9, spec 5 G18). What is stored and shown has a placeholder
 * that names the secret.
 *
 * @module
 */

import type { NamedSecret } from "../config/redact.ts";
import type { ActionResult } from "./actions.ts";

/** Shorter values are too likely to be words of a text. */
const MIN_SECRET_CHARS = 8;

/** Takes secrets out of texts. */
export interface SecretScrubber {
  text(text: string): string;
  result(result: ActionResult): ActionResult;
  /**
   * Of texts that are pieces of one stream. What may be the beginning of a secret is held back until the
   * next piece, or `end`, says what it is.
   */
  pieces(emit: (text: string) => void): { push(text: string): void; end(): void };
}

/** A scrubber of these secrets. */
export function createSecretScrubber(secrets: readonly NamedSecret[]): SecretScrubber {
  const names = new Map<string, string>();
  for (const { name, value } of secrets) {
    if (value.length < MIN_SECRET_CHARS) continue;
    for (const form of formsOf(value)) if (!names.has(form)) names.set(form, name);
  }
  // The longest first: one secret may begin with another.
  const forms = [...names.keys()].toSorted((a, b) => b.length - a.length);
  const any = forms.length === 0 ? undefined : new RegExp(forms.map(escape).join("|"), "g");

  const scrub = (text: string) =>
    any === undefined ? text : text.replace(any, (form) => `[secret ${names.get(form)}]`);

  /** Characters at the end that may begin a secret. */
  function heldBack(text: string): number {
    let held = 0;
    for (const form of forms) {
      for (let length = Math.min(form.length - 1, text.length); length > held; length--) {
        if (text.endsWith(form.slice(0, length))) held = length;
      }
    }
    return held;
  }

  return {
    text: scrub,
    result(result) {
      const output = scrub(result.output);
      if (result.status === "ok") return { ...result, output };
      const message = scrub(result.error.message);
      return { ...result, output, error: { ...result.error, message } };
    },
    pieces(emit) {
      let kept = "";
      return {
        push(text) {
          const whole = scrub(kept + text);
          const at = whole.length - heldBack(whole);
          kept = whole.slice(at);
          if (at > 0) emit(whole.slice(0, at));
        },
        end() {
          if (kept !== "") emit(kept);
          kept = "";
        },
      };
    },
  };
}

/** As it is, and as it stands in JSON and in a URL. */
function formsOf(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  return [value, inJson, ...value.isWellFormed() ? [encodeURIComponent(value)] : []];
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
