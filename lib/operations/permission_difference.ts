/**
 * What a restart would change about what the service may touch.
 *
 * @module
 */

import type { Permission } from "../base/permission.ts";

/** Permissions that the service would have after a restart and has not now, and the reverse. */
export interface PermissionDifference {
  added: Permission[];
  removed: Permission[];
}

/** Permissions that only one of two tables has, whoever asked for them. */
export function permissionDifference(
  running: readonly Permission[],
  next: readonly Permission[],
): PermissionDifference {
  return { added: without(next, running), removed: without(running, next) };
}

function without(table: readonly Permission[], other: readonly Permission[]): Permission[] {
  const known = new Set(other.map(nameOf));
  return table.filter((each) => !known.has(nameOf(each)));
}

function nameOf({ kind, value }: Permission): string {
  return `${kind} ${value}`;
}
