import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isDamaged } from "./damaged.ts";
import { openOperatorState, type OperatorState } from "./operator_state.ts";
import { rounds } from "../../tests/support/rounds.ts";

const SESSION = "api:reports";
const TARGET = "https://example.com/";
const FILES = ["grants", "latches", "tokens"] as const;

interface Home {
  root: string;
  dir: string;
  keysDir: string;
  token: string;
  /** The files as they were one change before. */
  older: Map<string, Uint8Array>;
}

/** A home in which everything was changed twice, so that there is an older version of each file. */
async function makeHome(): Promise<Home> {
  const root = await Deno.makeTempDir();
  const [dir, keysDir] = [`${root}/operator`, `${root}/keys`];
  await Deno.mkdir(keysDir, { mode: 0o700 });
  const state = await openOperatorState({ dir, keysDir });
  const grant = (target: string) =>
    state.grants.add({ subject: SESSION, capability: "net.fetch", target, note: "" });
  const latch = (sessionKey: string) =>
    state.latches.set({ sessionKey, capability: "exec", reason: "no" });
  await grant("https://other.example/");
  await latch("api:other");
  await state.tokens.issue({ name: "one", scopes: ["approve"] });
  const older = new Map(
    FILES.map((name) => [`${dir}/${name}.json`, Deno.readFileSync(`${dir}/${name}.json`)]),
  );
  await grant(TARGET);
  await latch(SESSION);
  const { token } = await state.tokens.issue({ name: "two", scopes: ["operate"] });
  await state.close();
  return { root, dir, keysDir, token, older };
}

/** What an attacker would want: something released, or something denied that is not denied any more. */
function released(state: OperatorState, token: string): Record<(typeof FILES)[number], boolean> {
  const latch = state.latches.find(SESSION, "exec");
  return {
    grants: state.grants.find({ subject: SESSION }, "net.fetch", TARGET) !== undefined,
    latches: latch === undefined,
    tokens: state.tokens.verify(token) !== undefined,
  };
}

Deno.test("G11 a grant, latch or token in a file with any byte changed, cut or added releases nothing", async () => {
  const { root, dir, keysDir, token } = await makeHome();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...FILES),
      fc.oneof(
        fc.record({ kind: fc.constant("flip" as const), at: fc.nat(), bit: fc.nat(7) }),
        fc.record({ kind: fc.constant("cut" as const), at: fc.nat() }),
        fc.record({ kind: fc.constant("add" as const), text: fc.string({ minLength: 1 }) }),
        fc.record({ kind: fc.constant("replace" as const), text: fc.string() }),
      ),
      async (name, change) => {
        const path = `${dir}/${name}.json`;
        // Anew: that a token was used is written too.
        const bytes = Deno.readFileSync(path);
        let changed = new Uint8Array(bytes);
        if (change.kind === "flip") changed[change.at % bytes.length]! ^= 1 << change.bit;
        else if (change.kind === "cut") changed = changed.slice(0, change.at % bytes.length);
        else {
          const text = new TextEncoder().encode(change.text);
          changed = change.kind === "add" ? new Uint8Array([...bytes, ...text]) : text;
        }
        Deno.writeFileSync(path, changed);
        const state = await openOperatorState({ dir, keysDir });
        const is = released(state, token);
        assertEquals(is[name], false);
        assert(state[name].damaged() !== undefined);
        await state.close();
        Deno.writeFileSync(path, bytes);
      },
    ),
    { numRuns: rounds(150) },
  );
  const state = await openOperatorState({ dir, keysDir });
  assertEquals(released(state, token), { grants: true, latches: false, tokens: true });
  await state.close();
  await Deno.remove(root, { recursive: true });
});

Deno.test("G11 state that was rolled back, taken away, swapped or given another key is known as damaged", async () => {
  const attacks: [string, (home: Home, path: string, name: string) => void][] = [
    ["an older version", ({ older }, path) => Deno.writeFileSync(path, older.get(path)!)],
    ["taken away", (_, path) => Deno.removeSync(path)],
    ["a folder in its place", (_, path) => {
      Deno.removeSync(path);
      Deno.mkdirSync(path);
    }],
    ["what is known of it taken away", ({ keysDir }, _, name) => {
      Deno.removeSync(`${keysDir}/operator-${name}.json`);
    }],
    ["another file's content", ({ dir }, path, name) => {
      Deno.copyFileSync(`${dir}/${name === "grants" ? "tokens" : "grants"}.json`, path);
    }],
    ["no key", ({ keysDir }) => Deno.removeSync(`${keysDir}/operator.key`)],
    ["another key", ({ keysDir }) => {
      Deno.writeFileSync(`${keysDir}/operator.key`, crypto.getRandomValues(new Uint8Array(32)));
    }],
    ["an empty key", ({ keysDir }) => Deno.writeTextFileSync(`${keysDir}/operator.key`, "")],
    ["a huge file", (_, path) => Deno.truncateSync(path, 10_000_000_000)],
  ];
  for (const name of FILES) {
    for (const [what, attack] of attacks) {
      const home = await makeHome();
      attack(home, `${home.dir}/${name}.json`, name);
      const state = await openOperatorState(home);
      assertEquals([what, name, released(state, home.token)[name]], [what, name, false]);
      assert(state[name].damaged() !== undefined, `${what} of ${name}`);
      if (name === "latches") {
        // Also what nobody has denied: nobody can say any more.
        const found = state.latches.find("api:never", "net.fetch");
        assert(found !== undefined && isDamaged(found), what);
      }
      await state.close();
      await Deno.remove(home.root, { recursive: true });
    }
  }
});

Deno.test("G11 state that is taken away or rolled back while the service runs holds what it has seen", async () => {
  for (const name of FILES) {
    for (const what of ["gone", "older", "all gone"] as const) {
      const home = await makeHome();
      const path = `${home.dir}/${name}.json`;
      const state = await openOperatorState(home);
      assertEquals(released(state, home.token), { grants: true, latches: false, tokens: true });
      if (what === "older") Deno.writeFileSync(path, home.older.get(path)!);
      else Deno.removeSync(path);
      // What would make a new home of it.
      if (what === "all gone") Deno.removeSync(`${home.keysDir}/operator-${name}.json`);
      assertEquals([what, name, released(state, home.token)[name]], [what, name, false]);
      await state.close();
      await Deno.remove(home.root, { recursive: true });
    }
  }
});
