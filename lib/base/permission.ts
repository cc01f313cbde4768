/**
 * Permissions of a process or Worker.
 *
 * @module
 */

/** One permission of the service. */
export interface Permission {
  kind: "net" | "read" | "write" | "env";
  /** `host:port`, `unix:<path>`, a path, or a variable's name. */
  value: string;
  /** Who asked: a config key, a provider, a dependency. */
  askedBy: string;
}

/** The table as the options of a Worker. What is not named is denied. */
export function workerPermissions(table: readonly Permission[]): Deno.PermissionOptionsObject {
  return {
    ...valuesByKind(table),
    import: false,
    run: false,
    ffi: false,
    sys: false,
  };
}

/** The values of a table, each once. */
export function valuesByKind(
  table: readonly Permission[],
): Record<Permission["kind"], string[]> {
  const valuesOf = (kind: Permission["kind"]) => [
    ...new Set(table.filter((entry) => entry.kind === kind).map(({ value }) => value)),
  ];
  return {
    net: valuesOf("net"),
    read: valuesOf("read"),
    write: valuesOf("write"),
    env: valuesOf("env"),
  };
}
