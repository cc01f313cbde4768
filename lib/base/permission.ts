/**
 * Permissions of a process or Worker.
 *
 * @module
 */

const KINDS = ["net", "read", "write", "env"] as const;

/** One permission of the service. */
export interface Permission {
  kind: typeof KINDS[number];
  /** `host:port`, `unix:<path>`, a path, or a variable's name. */
  value: string;
  /** Who asked: a config key, a provider, a dependency. */
  askedBy: string;
}

/** The table as flags of `deno run`. What is not named is denied. */
export function permissionFlags(table: readonly Permission[]): string[] {
  return KINDS.flatMap((kind) => {
    const values = valuesOf(table, kind);
    return values.length === 0 ? [] : [`--allow-${kind}=${values.join(",")}`];
  });
}

/** Whether flags can say it: Deno splits their values at every comma. */
export function fitsFlags(table: readonly Permission[]): boolean {
  return table.every(({ value }) => !value.includes(","));
}

/** The table as the options of a Worker. What is not named is denied. */
export function workerPermissions(table: readonly Permission[]): Deno.PermissionOptionsObject {
  return {
    ...Object.fromEntries(KINDS.map((kind) => [kind, valuesOf(table, kind)])),
    import: false,
    run: false,
    ffi: false,
    sys: false,
  };
}

function valuesOf(table: readonly Permission[], kind: Permission["kind"]): string[] {
  return [...new Set(table.filter((entry) => entry.kind === kind).map(({ value }) => value))];
}
