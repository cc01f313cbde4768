/**
 * The files of the browser app (`webui/`): bundles them, and hands them to whoever serves them.
 *
 * Stands alone: it knows no port and no route.
 *
 * Invariants:
 * - The built form holds the files. From source they are in Deno's cache folder under a digest of all
 *   that they are made of, so a build that is there is fresh, and several versions do not meet.
 * - No start waits for a build.
 * - Every file but `index.html` has a digest of its content in its name.
 *
 * Runs in: launcher, and the program that makes the built form.
 *
 * Entries:
 * - `app_files.ts`: the files, built where they are missing
 * - `build_app.ts`: bundles them
 *
 * @module
 */
