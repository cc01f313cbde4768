import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { basename, join } from "@std/path";
import { NS } from "./client/namespaces.ts";
import { xml } from "./client/xmpp_library.ts";
import { MAX_INBOUND_FILE_BYTES } from "../../lib/channel/platform/mod.ts";
import { findUpload, uploadFile } from "./files/upload.ts";
import type { Person } from "./testing/person.ts";
import { testWithProsody, type World } from "./testing/test_with_prosody.ts";

const test = testWithProsody("xmpp and files");

/** Has somebody put a file on the server; resolves with its address. */
async function upload(
  { server }: World,
  { session }: Person,
  name: string,
  text: string,
): Promise<string> {
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(join(dir, name), text);
  const url = await uploadFile(join(dir, name), {
    session,
    service: (await findUpload(session, "localhost"))!,
    host: {
      url: new URL(`https://localhost:${server.filesPort}`),
      caCerts: [await Deno.readTextFile(server.caFile)],
    },
    signal: new AbortController().signal,
  });
  await Deno.remove(dir, { recursive: true });
  return url;
}

const oob = (url: string) => xml("x", { xmlns: NS.oob }, xml("url", {}, url));

test("a file of the server is fetched, and that of any other place is an address", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  let stolen = 0;
  const elsewhere = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    stolen += 1;
    return new Response("x");
  });
  const url = await upload(world, alice, "a report.txt", "its text");
  // A folder is removed when the service has its files.
  let text = "";
  const { host } = agent;
  const publish = host.publish.bind(host);
  host.publish = async (message) => {
    for (const path of message.media ?? []) text += await Deno.readTextFile(path);
    return await publish(message);
  };
  await alice.say(agent.jid, url, oob(url));
  await agent.until(() => host.published.length === 1);
  const [file] = host.published;
  assertEquals([file!.content, file!.media?.length, text], ["", 1, "its text"]);
  assertEquals(basename(file!.media![0]!), "a report.txt");
  const other = `http://127.0.0.1:${elsewhere.addr.port}/x.png`;
  const aesgcm = url.replace("https:", "aesgcm:");
  await alice.say(agent.jid, "look", oob(other), oob(aesgcm));
  const { content, media } = await agent.heard("look");
  assertStringIncludes(content, other);
  assertStringIncludes(content, aesgcm);
  assertEquals([media, stolen], [undefined, 0]);
  await elsewhere.shutdown();
  await agent.until(() => [...Deno.readDirSync(join(host.stateDir, "media"))].length === 0);
});

test("a file that is gone, or too large, is said to be", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const base = `https://localhost:${world.server.filesPort}`;
  const gone = `${base}/file_share/none/gone.txt`;
  await alice.say(agent.jid, gone, oob(gone));
  await alice.message("The file gone.txt was not read: the server answered 404.");
  assertEquals(agent.host.offered, []);

  const cert = await Deno.readTextFile(join(world.server.dir, "cert.pem"));
  const key = await Deno.readTextFile(join(world.server.dir, "key.pem"));
  const chunk = new Uint8Array(64 * 1024);
  const large = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} },
    ({ url }) => {
      if (url.endsWith("moved.txt")) return Response.redirect("https://example.org/", 302);
      let left = MAX_INBOUND_FILE_BYTES + 1;
      const body = new ReadableStream({
        pull(controller) {
          if (left <= 0) return controller.close();
          controller.enqueue(chunk);
          left -= chunk.length;
        },
      });
      return new Response(body);
    },
  );
  const uploadUrl = `https://localhost:${large.addr.port}`;
  const second = await world.channel({ uploadUrl });
  await alice.say(second.jid, `${uploadUrl}/large.bin`, oob(`${uploadUrl}/large.bin`));
  const tooLarge = "The file large.bin was not read: it has 9 MB, and at most 8 MB are read.";
  await alice.message(tooLarge);
  await alice.say(second.jid, `${uploadUrl}/moved.txt`, oob(`${uploadUrl}/moved.txt`));
  await alice.message("The file moved.txt was not read: the server answered 302.");
  const small = await upload(world, alice, "small.txt", "its text");
  const many = Array.from({ length: 5 }, (_, at) => oob(`${small}#${at}`));
  await alice.say(agent.jid, "many", ...many);
  await agent.heard("The file small.txt was not read: at most 4 files of a message are read.");
  await second.close();
  await large.shutdown();
});

test("a voice message is heard, and is a file where that is off", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  agent.host.onTranscribe = () => Promise.resolve("buy some bread");
  const url = await upload(world, alice, "voice.m4a", "audio");
  await alice.say(agent.jid, url, oob(url));
  const spoken = await agent.heard("buy some bread");
  assertEquals([spoken.content, spoken.media], [
    "Voice message: buy some bread",
    undefined,
  ]);
  agent.host.onTranscribe = () =>
    Promise.reject(Object.assign(new Error("Transcription is off"), { code: "not_enabled" }));
  const again = await upload(world, alice, "again.ogg", "audio");
  await alice.say(agent.jid, again, oob(again));
  const file = await agent.heard("transcription is not switched on");
  assertEquals(file.media?.map((path) => basename(path)), ["again.ogg"]);
});

test("files go out as addresses, and what cannot be sent is said", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(join(dir, "small.txt"), "its text");
  await Deno.writeFile(join(dir, "large.bin"), new Uint8Array(1024 * 1024 + 1));
  const media = ["small.txt", "large.bin", "none.txt"].map((name) => join(dir, name));
  await agent.send(alice.jid, "here they are", { media });
  const sent = await alice.stanza((one) => one.getChild("x", NS.oob) !== undefined);
  const url = sent.getChild("x", NS.oob)!.getChildText("url")!;
  assertEquals(sent.getChildText("body"), url);
  assert(url.endsWith("/small.txt"), url);
  await alice.message("The file `large.bin` could not be attached: 2 MB > 1 MB.");
  await alice.message("The file `none.txt` could not be attached: it is empty or gone.");
  const without = await world.channel({ uploadUrl: "", language: "es" });
  await without.send(alice.jid, "", { media: [media[0]!] });
  await alice.message("el servidor no guarda archivos");
  const wrong = await world.channel({ uploadUrl: "https://localhost:1" });
  await wrong.send(alice.jid, "", { media: [media[0]!] });
  await alice.message("and uploadUrl is https://localhost:1");
  await Deno.remove(dir, { recursive: true });
});
