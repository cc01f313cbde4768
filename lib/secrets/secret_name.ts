/**
 * What a secret may be called: in the store, in the configuration, in arguments, rules and grants.
 *
 * @module
 */

/** The form of a name, as a part of an expression: that of an environment variable in capitals. */
export const SECRET_NAME = "[A-Z][A-Z0-9_]{0,63}";

/** The same for people. */
export const SECRET_NAME_FORM =
  "A-Z, 0-9 and _, a letter first, at most 64 characters, such as GITHUB_TOKEN";

/** A whole text that is a name. */
export const WHOLE_SECRET_NAME: RegExp = new RegExp(`^${SECRET_NAME}$`);

/** Whether a text can be a secret's name. */
export function isSecretName(text: string): boolean {
  return WHOLE_SECRET_NAME.test(text);
}
