import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Line, piece } from "./look.ts";
import { type Block, Screen } from "./screen.ts";

function world(lines: Line[] = [[piece("> typed")]]) {
  let written = "";
  let size = { columns: 20, rows: 6 };
  const block: Block = { lines };
  let isGone = false;
  const port = {
    color: false,
    write(text: string) {
      if (isGone) throw new Error("gone");
      written += text;
    },
    size: () => size,
  };
  let gone = 0;
  const screen = new Screen(port, () => block, () => gone++);
  return {
    screen,
    take() {
      const taken = written;
      written = "";
      return taken;
    },
    resize: (columns: number) => size = { columns, rows: 6 },
    vanish: () => isGone = true,
    gone: () => gone,
  };
}

Deno.test("Screen prints above the block, and draws that again", () => {
  const { screen, take } = world();
  screen.flush();
  take();
  screen.print([piece("output")]);
  screen.flush();
  const drawn = take();
  assert(drawn.indexOf("\x1b[J") < drawn.indexOf("output\r\n"), JSON.stringify(drawn));
  assert(drawn.indexOf("output\r\n") < drawn.indexOf("> typed"), JSON.stringify(drawn));
  screen.close();
});

Deno.test("Screen.stream() holds a line back until it is whole", () => {
  const { screen, take } = world();
  const stream = screen.stream();
  stream.writeSync(new TextEncoder().encode("half"));
  screen.flush();
  assert(!take().includes("half"));
  stream.writeSync(new TextEncoder().encode(" a line\n"));
  screen.flush();
  assertStringIncludes(take(), "half a line\r\n");
  screen.close();
});

Deno.test("Screen takes away all rows that a narrower terminal made of the block", () => {
  const wide = [piece("x".repeat(18))];
  const { screen, take, resize } = world([wide, [piece("> ")]]);
  screen.flush();
  take();
  resize(10);
  screen.flush();
  assertStringIncludes(take(), "\x1b[2A\x1b[J");
  screen.close();
});

Deno.test("Screen keeps the end of a block that is higher than the terminal", () => {
  const lines = Array.from({ length: 30 }, (_, at) => [piece(`row ${at}`)]);
  const { screen, take } = world(lines);
  screen.flush();
  const drawn = take();
  assertEquals([drawn.includes("row 24"), drawn.includes("row 29")], [false, true]);
  screen.close();
});

Deno.test("Screen says once that its terminal is gone", () => {
  const { screen, vanish, gone } = world();
  vanish();
  screen.flush();
  screen.flush();
  assertEquals(gone(), 1);
});
