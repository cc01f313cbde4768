/**
 * Text of a document of about 5 MB of each kind: read in the service's child, beside the library called
 * directly in this process, which is warm and guards against nothing.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/documents.ts [--json]`
 *
 * @module
 */

import { unzipSync } from "fflate";
import { Buffer } from "node:buffer";
import { homedir } from "node:os";
import { SaxesParser } from "saxes";
import { extractText, getDocumentProxy } from "unpdf";
import { read, utils } from "xlsx";
import { createDocumentReader } from "../lib/documents/documents.ts";
import { findDenoDir } from "../lib/packages/deno_dir.ts";
import { prepareGlobals } from "../lib/documents/prepare_globals.ts";
import { makeLargeDocuments } from "./large_documents.ts";
import { type Figure, median, report } from "./report.ts";

const RUNS = 5;

prepareGlobals();
const { default: mammoth } = await import("mammoth");

const direct = {
  pdf: async (bytes: Uint8Array) => {
    await extractText(await getDocumentProxy(bytes.slice(), { verbosity: 0 }));
  },
  docx: async (bytes: Uint8Array) => {
    await mammoth.convertToHtml({ buffer: Buffer.from(bytes) });
  },
  xlsx: (bytes: Uint8Array) => {
    const book = read(bytes, { type: "array", dense: true });
    for (const name of book.SheetNames) utils.sheet_to_csv(book.Sheets[name]!, { FS: "\t" });
  },
  pptx: (bytes: Uint8Array) => {
    for (const [name, part] of Object.entries(unzipSync(bytes))) {
      if (/^ppt\/(slides|notesSlides)\/[^/]*\.xml$/.test(name)) {
        new SaxesParser({ position: false }).write(new TextDecoder().decode(part)).close();
      }
    }
  },
};

async function time(act: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

const silent = () => {};
const cacheDir = await Deno.makeTempDir();
const reader = createDocumentReader({
  cacheDir,
  denoDir: findDenoDir({
    env: (name) => Deno.env.get(name),
    cwd: Deno.cwd(),
    home: homedir,
    os: Deno.build.os,
  }),
  log: { debug: silent, info: silent, warning: silent, error: silent },
});
const { signal } = new AbortController();
const figures: Figure[] = [];
const documents = await makeLargeDocuments();
for (const [format, bytes] of Object.entries(documents) as [keyof typeof direct, Uint8Array][]) {
  const inChild = () => reader.extract({ name: `large.${format}`, bytes }, { signal });
  const directly = () => direct[format](bytes);
  await inChild();
  await directly();
  const times = { child: [] as number[], direct: [] as number[] };
  for (let n = 0; n < RUNS; n++) {
    times.child.push(await time(inChild));
    times.direct.push(await time(directly));
  }
  figures.push({
    name: `.${format} of ${(bytes.length / 1e6).toFixed(1)} MB, in the child`,
    value: median(times.child),
    unit: "ms",
    against: { name: "the library directly", value: median(times.direct) },
    aim: { atMost: 3 },
  });
}
await reader.shutdown();
await Deno.remove(cacheDir, { recursive: true });
report("text of documents", figures, { json: Deno.args.includes("--json") });
