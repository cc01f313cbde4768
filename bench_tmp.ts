import { PackagePlace } from "./lib/operations/channels/testing/package_place.ts";
import webhook from "./channels/webhook/manifest.ts";
import irc from "./channels/irc/manifest.ts";
function tree(pid: number): number[] {
  const out = [pid];
  for (const t of Deno.readDirSync(`/proc/${pid}/task`)) {
    try { for (const c of Deno.readTextFileSync(`/proc/${pid}/task/${t.name}/children`).trim().split(" ").filter(Boolean)) out.push(...tree(Number(c))); } catch { /* gone */ }
  }
  return out;
}
function pss() {
  let sum = 0; const each: string[] = [];
  for (const pid of tree(Deno.pid)) {
    try { const v = Number(/^Pss:\s+(\d+)/m.exec(Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`))![1]); sum += v; each.push(`${Deno.readTextFileSync(`/proc/${pid}/comm`).trim()}=${(v/1024).toFixed(1)}`); } catch { /* gone */ }
  }
  return `${(sum / 1024).toFixed(1)} MiB (${each.join(" ")})`;
}
const sleep = (ms: number) => new Promise((r) => setTimeout(r, ms));
const kinds: any = {
  webhook: { manifest: webhook, folder: new URL("./channels/webhook/", import.meta.url), config: { host: "127.0.0.1", port: 0, url: "http://127.0.0.1:9/", secret: "x".repeat(40), allowFrom: ["*"] } },
  irc: { manifest: irc, folder: new URL("./channels/irc/", import.meta.url), config: { host: "127.0.0.1", port: 6667, nick: "x", allowFrom: ["*"], tls: false } },
};
const name = Deno.args[0];
await sleep(1000);
console.log("before", pss());
const all = [];
for (let i = 0; i < 4; i++) {
  const place = await PackagePlace.open(kinds[name]);
  const at = performance.now();
  const channel = await place.build(() => {});
  console.log(name, i, "ready", (performance.now() - at).toFixed(0), "ms");
  await sleep(1500);
  console.log("   ", pss());
  all.push({ place, channel });
}
for (const { place, channel } of all) { await channel.stop(500); await place[Symbol.asyncDispose](); }
Deno.exit(0);
