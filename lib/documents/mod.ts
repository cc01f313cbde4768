/**
 * What a file is by its bytes, and the text of PDF, Word, Excel and PowerPoint files.
 *
 * Stands alone: it reads hostile files with packages of others, so that happens in a child with no
 * permission at all and with bounds of time and memory.
 *
 * Invariants:
 * - The type follows from the bytes, never from a name or a header.
 * - `child.ts` reaches nothing; the service gets text back.
 * - Documents and tools have places of their own and never wait for each other.
 * - A PDF is read up to 200 pages and says so. An archive over its limits is refused.
 *
 * Runs in: launcher (starts children), action child (`child.ts`), gateway (images and text files).
 *
 * Entries:
 * - `child.ts`: the child that reads one document; started by its path
 * - `documents.ts`: reads documents in children
 * - `image_type.ts`: the type of an image
 * - `read_upload.ts`: what an uploaded file is
 *
 * @module
 */
