/**
 * Reads an archive as a restore does before it writes anything; prints how many files it holds.
 *
 * @module
 */

import { openArchive, readArchive } from "../read_archive.ts";

using file = await openArchive(Deno.args[0]!);
const { files } = await readArchive(file);
Deno.stdout.writeSync(new TextEncoder().encode(`${files}\n`));
