/**
 * Globs over relative paths: `*` and `?` inside a name, `**` over folders, `{a,b}`, `[abc]`, `[!abc]`.
 * A glob without a slash matches the name alone, wherever it is.
 *
 * @module
 */

/** Alternatives that one glob may stand for. */
const MAX_ALTERNATIVES = 64;

/** A test of relative paths; throws an Error that names what is wrong with the glob. */
export function compileGlob(glob: string): (path: string) => boolean {
  const pattern = glob.startsWith("/") || glob.startsWith("./") ? glob.replace(/^\.?\//, "") : glob;
  const expressions = expandBraces(pattern).map((one) => new RegExp(`^${translate(one)}$`, "u"));
  const byName = !pattern.includes("/");
  return (path) => {
    const subject = byName ? path.slice(path.lastIndexOf("/") + 1) : path;
    return expressions.some((expression) => expression.test(subject));
  };
}

function expandBraces(glob: string): string[] {
  let done: string[] = [];
  let open = [glob];
  while (open.length > 0) {
    const next: string[] = [];
    for (const one of open) {
      // The innermost pair, so that pairs inside pairs work out.
      const match = /\{([^{}]*)\}/.exec(one);
      if (match === null) done = [...done, one];
      else {
        const [head, tail] = [one.slice(0, match.index), one.slice(match.index + match[0].length)];
        next.push(...match[1]!.split(",").map((part) => head + part + tail));
      }
    }
    open = next;
    if (open.length + done.length > MAX_ALTERNATIVES) {
      throw new Error(`glob has more than ${MAX_ALTERNATIVES} alternatives`);
    }
  }
  return done;
}

function translate(glob: string): string {
  let out = "";
  for (let at = 0; at < glob.length;) {
    const rest = glob.slice(at);
    const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest);
    if (rest.startsWith("**/")) {
      out += "(?:[^/]+/)*";
      at += 3;
    } else if (rest.startsWith("**")) {
      out += ".*";
      at += 2;
    } else if (rest.startsWith("*")) {
      out += "[^/]*";
      at += 1;
    } else if (rest.startsWith("?")) {
      out += "[^/]";
      at += 1;
    } else if (set !== null) {
      out += `[${set[1] ? "^/" : ""}${set[2]!.replace(/[\\[\]^&~]/g, "\\$&")}]`;
      at += set[0].length;
    } else {
      const char = String.fromCodePoint(rest.codePointAt(0)!);
      out += char.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
      at += char.length;
    }
  }
  return out;
}
