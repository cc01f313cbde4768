/**
 * What a secret may be called, hold, and be for.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { HOST_PATTERN_FORM, isHostPattern } from "../base/host_pattern.ts";
import { isSecretName, SECRET_NAME_FORM } from "../secrets/secret_name.ts";
import { parsePattern, PATTERN_FORMS } from "../policy/target_pattern.ts";

/** What is checked of a secret. */
export interface SecretFields {
  name: string;
  value: string;
  hosts: readonly string[];
  commands: readonly string[];
}

/** Least characters of a value; shorter ones would stand in texts by chance. */
const MIN_SECRET_CHARS = 8;

/** Shorter values may be words of a command by chance. */
const MIN_TOLD_CHARS = 12;

/** Most bytes of a value's UTF-8. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** Most hosts, and most commands, of one secret. */
const MAX_SCOPES = 100;

/** Throws `invalid_request`, naming the field and what is expected; never repeats the value. */
export function checkSecret({ value, ...place }: SecretFields): void {
  checkSecretPlace(place);
  checkValue(value);
  const inScope = place.commands.some((text) => text.includes(value.trim()));
  if (inScope && value.trim().length >= MIN_TOLD_CHARS) {
    throw refuse(
      "commands",
      "commands hold the value itself, and are shown and on record; a command has it as a variable",
    );
  }
}

/** The same of everything but the value, for who asks for that last. */
export function checkSecretPlace({ name, hosts, commands }: Omit<SecretFields, "value">): void {
  checkName(name);
  checkScope("hosts", hosts, isHostPattern, HOST_PATTERN_FORM);
  const isCommand = (text: string) => parsePattern("command", text) !== undefined;
  checkScope("commands", commands, isCommand, PATTERN_FORMS.command);
}

function checkName(name: string): void {
  // Somebody may have typed the value in the name's place, so it is not repeated.
  if (!isSecretName(name)) throw refuse("name", `name is not one: expected ${SECRET_NAME_FORM}`);
  if (TAKEN.test(name)) {
    throw refuse("name", `name is ${name}, a variable that programs go by; choose another one`);
  }
}

/** A secret comes to a command as a variable; these would change how it runs. */
const TAKEN =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|LANG|LC_.*|TMPDIR|IFS|ENV|BASH_ENV|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PERL5OPT|RUBYOPT|GIT_.*COMMAND|GIT_CONFIG.*|DENO_DIR|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|(?:HTTP|HTTPS|ALL|NO)_PROXY)$/;

function checkValue(value: string): void {
  const chars = [...value.trim()].length;
  if (chars < MIN_SECRET_CHARS) {
    const got = chars === 0 ? "is empty" : "is too short";
    throw refuse(
      "value",
      `value ${got}: expected at least ${MIN_SECRET_CHARS} characters beside blanks around them, ` +
        "as a shorter one could not be told from other text",
    );
  }
  if (!value.isWellFormed() || value.includes("\0")) {
    throw refuse("value", "value is no text: it holds bytes that are no UTF-8, or a zero byte");
  }
  if (new TextEncoder().encode(value).length > MAX_SECRET_BYTES) {
    throw refuse("value", `value is too long: expected at most ${MAX_SECRET_BYTES} bytes`);
  }
}

function checkScope(
  param: "hosts" | "commands",
  scope: readonly string[],
  isOne: (text: string) => boolean,
  form: string,
): void {
  if (scope.length > MAX_SCOPES) {
    throw refuse(param, `${param} are ${scope.length}; expected at most ${MAX_SCOPES}`);
  }
  const wrong = scope.find((text) => !isOne(text));
  if (wrong === undefined) return;
  const shown = JSON.stringify(wrong.length > 100 ? `${wrong.slice(0, 100)}…` : wrong);
  throw refuse(param, `${param} hold ${shown}; expected ${form}`);
}

function refuse(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { param });
}
