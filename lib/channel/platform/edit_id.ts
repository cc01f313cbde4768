/**
 * The id under which what the platform says of a message now is told from what it said before, where the
 * platform gives an edit none of its own.
 *
 * @module
 */
export function editId(id: string, editedAt: string | number | undefined): string {
  return editedAt === undefined ? id : `${id}~${editedAt}`;
}
