import { assertEquals } from "@std/assert";
import { makeHome, RUN_FLAGS } from "./support/home.ts";

Deno.test("the service has exactly its table, and cannot do what is not in it", async () => {
  await using home = await makeHome({
    providers: { local: { baseUrl: "http://127.0.0.1:11434/v1" } },
  });
  const { code, stdout, stderr } = await home.run(["permissions", "--serve", "--json"]);
  assertEquals(code, 0, stderr);
  const rows: { kind: string; value: string; asked_by: string }[] = JSON.parse(stdout).permissions;
  const table = rows.map(({ asked_by: askedBy, ...row }) => ({ ...row, askedBy }));
  const nets = table.filter(({ kind }) => kind === "net").map((
    { value, askedBy },
  ) => [value, askedBy]);
  assertEquals(nets, [
    ["127.0.0.1:8900", "api"],
    ["127.0.0.1:11434", "providers.local"],
    [`unix:${home.dir}/home/run/service.sock`, "local socket"],
  ]);

  const forbidden = {
    configFile: `${home.dir}/home/config.json`,
    auditDir: `${home.dir}/home/audit`,
    keysDir: `${home.dir}/home/keys`,
    operatorDir: `${home.dir}/home/operator`,
    workspace: `${home.dir}/home/workspace`,
  };
  for (const dir of ["run", "data"]) {
    await Deno.mkdir(`${home.dir}/home/${dir}`, { recursive: true });
  }
  for (const dir of ["auditDir", "keysDir", "operatorDir", "workspace"] as const) {
    await Deno.mkdir(forbidden[dir], { recursive: true });
  }
  await Deno.writeTextFile(`${forbidden.workspace}/planted.ts`, "export const planted = true;");
  const intruder = new URL("./support/run_intruder.ts", import.meta.url).pathname;
  const result = await new Deno.Command(Deno.execPath(), {
    args: [...RUN_FLAGS, intruder, JSON.stringify({ table, forbidden })],
  }).output();
  assertEquals(result.code, 0, new TextDecoder().decode(result.stderr));
  const report = JSON.parse(new TextDecoder().decode(result.stdout));

  assertEquals(report.granted, table, "everything in the table is granted");
  assertEquals(report.whole, [], "no kind of permission is granted as a whole");
  const allowed = Object.entries(report.attempts).filter(([, outcome]) => outcome === "allowed");
  assertEquals(allowed, []);
  assertEquals(Object.keys(report.attempts).length, 27);
  assertEquals(await Deno.readTextFile(forbidden.configFile) !== "", true);
});

Deno.test("the launcher connects to nobody while the service runs", async () => {
  await using home = await makeHome();
  const program = new URL("./support/launcher_permissions.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [...RUN_FLAGS, program],
    env: { SERVICE_HOME: `${home.dir}/home` },
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  const said = new TextDecoder().decode((await reader.read()).value);
  assertEquals(JSON.parse(said), { state: "prompt", connected: "NotCapable" });
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  await reader.cancel();
});
