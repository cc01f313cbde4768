/** The full key of what was typed: a name alone is a session of the command line. */
export function fullKey(typed: string): string {
  return typed.includes(":") ? typed : `cli:${typed}`;
}
