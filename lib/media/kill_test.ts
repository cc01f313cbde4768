/**
 * What `kill -9` leaves in the folder. The file is also the program that is killed: it keeps files for
 * turns, accepts some of them and deletes sessions, all at once, and prints what was acknowledged.
 */
import { assert, assertEquals } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { NO_USAGE } from "../contract/events.ts";
import { openJournal } from "../journal/open.ts";
import { openMedia } from "./open_media.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const LANES = 4;

/** Contents that come again in other lanes, and some of a lane alone. */
function contentOf(lane: number, n: number): Uint8Array<ArrayBuffer> {
  const name = n % 2 === 0 ? `shared ${n % 8}` : `lane ${lane}, ${n}`;
  return new TextEncoder().encode(name.repeat(2_000));
}

function openBoth(folder: string) {
  const drops: Promise<void>[] = [];
  const journal = openJournal({
    path: `${folder}/service.db`,
    onFilesFree: (sha256s) => drops.push(media.drop(sha256s)),
  });
  const media = openMedia({
    dir: `${folder}/media`,
    isReferenced: (sha256) => journal.hasFile(sha256),
    isNeeded: (sha256) => journal.needsFile(sha256),
  });
  return { journal, media, drops };
}

async function uploadUntilKilled(folder: string): Promise<void> {
  const { journal, media } = openBoth(folder);
  // Held at the kill, whenever that comes.
  await media.hold(new TextEncoder().encode("never accepted"));
  const print = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  await Promise.all(Array.from({ length: LANES }, async (_, lane) => {
    for (let n = 0;; n++) {
      const { sha256, bytes, release } = await media.hold(contentOf(lane, n));
      if (n % 3 !== 0) {
        const id = `${lane}-${n}`;
        await journal.accept({
          id,
          sessionKey: `test:${lane}-${n % 5}`,
          channel: "test",
          actor: "test:local",
          input: [{ type: "image", mediaType: "image/png", file: { sha256, bytes } }],
          durable: false,
        });
        print(`accepted ${id} ${sha256}`);
        await journal.end(id, {
          event: { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
          forget: false,
        });
      }
      await release();
      if (n % 7 === 6) {
        print(`deleting ${lane}-${n % 5}`);
        await journal.deleteSession(`test:${lane}-${n % 5}`);
      }
    }
  }));
}

Deno.test("sweep() after kill -9 leaves the files of sessions on record, whole, and no others", async () => {
  const folder = await Deno.makeTempDir({ prefix: "media-test-" });
  try {
    for (const lines of [2, 60, 200]) {
      const home = `${folder}/${lines}`;
      await Deno.mkdir(home);
      const printed = await killAfter(lines, home);
      await checkFolder(home, printed);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function killAfter(lines: number, home: string): Promise<string[]> {
  const args = [
    "run",
    "-A",
    "--cached-only",
    ...lockedFlags(),
    "--no-check",
    import.meta.url,
    "upload",
    home,
  ];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "inherit" })
    .spawn();
  const printed: string[] = [];
  const output = child.stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  for await (const line of output) {
    printed.push(line);
    if (printed.length === lines) child.kill("SIGKILL");
  }
  await child.status;
  return printed;
}

async function checkFolder(home: string, printed: readonly string[]): Promise<void> {
  const { journal, media, drops } = openBoth(home);
  await journal.recover();
  await Promise.all(drops);
  assert(await media.sweep() > 0);
  const referenced = new Set<string>();
  for (const { id } of journal.sessions({ limit: 1_000 })) {
    for (const { input } of journal.turns(id, 0, 100_000)) {
      for (const part of input) if ("file" in part) referenced.add(part.file.sha256);
    }
  }
  const names = Array.from(Deno.readDirSync(`${home}/media`), ({ name }) => name);
  assertEquals(names.sort(), [...referenced].sort());
  for (const sha256 of referenced) assert(await media.read(sha256), `${sha256} is damaged`);

  const deleted = new Set(
    printed.filter((line) => line.startsWith("deleting")).map((line) => line.split(" ")[1]!),
  );
  // The last line may be cut off in its middle; what it says may have been begun all the same.
  for (const line of printed.slice(0, -1)) {
    const [kind, id, sha256] = line.split(" ");
    if (kind !== "accepted") continue;
    const [lane, n] = id!.split("-");
    if (!deleted.has(`${lane}-${Number(n) % 5}`)) assert(referenced.has(sha256!), line);
  }
  await journal.close();
}

if (Deno.args[0] === "upload") await uploadUntilKilled(Deno.args[1]!);
