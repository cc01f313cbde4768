/**
 * Has npm packages on this machine before anything imports them.
 *
 * Stands alone: it runs before any package is there, so it imports none. Deno remembers for as long
 * as a process runs that a package was missing, so another process fetches them.
 *
 * Invariants:
 * - `deno.lock` fixes versions and hashes.
 * - Deno's cache is looked at each time; a note of what was fetched could be wrong.
 * - A package that can't be had keeps its own channel or server from starting, and nothing else.
 *
 * Runs in: launcher, one-shot commands.
 *
 * Entries:
 * - `deno_dir.ts`: where Deno keeps packages
 * - `fetch_packages.ts`: fetches packages
 * - `locked_closure.ts`: everything that comes with a package
 * - `locked_packages.ts`: which packages, in which versions
 * - `missing_packages.ts`: which packages are not there, and where the others are
 * - `package_fetcher.ts`: fetches the packages of what is enabled
 * - `progress_line.ts`: progress of a download
 * - `wanted_packages.ts`: who needs which packages
 *
 * @module
 */
