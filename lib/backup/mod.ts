/**
 * Backups of a home: one archive with everything that a service knows, and the home made of it again.
 *
 * Stands alone: the service needs none of it. The archive is a gzip-compressed tar, so people can
 * open it without this program.
 *
 * Invariants:
 * - A backup never waits for the service, and the service never waits for a backup, but for the few
 *   milliseconds in which the sealed files and their keys are copied together.
 * - An archive takes its name when it is whole and on the disk.
 * - Nothing is written before every byte of an archive was checked, and the home takes its name when
 *   it is whole. An old home is moved aside, never removed.
 * - What was under way in the backup isn't done again (`lib/journal/settle_restored.ts`).
 *
 * Runs in: one-shot commands; the launcher lists and removes backups.
 *
 * Entries:
 * - `create_backup.ts`: writes an archive
 * - `read_archive.ts`: checks an archive
 * - `restore_home.ts`: makes a home of an archive
 * - `stored_backups.ts`: backups by age and size
 * - `tar.ts`: reads and writes tar
 *
 * @module
 */
