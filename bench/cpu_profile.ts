/**
 * What a CPU profile says about a turn: each sample counts for the innermost thing on its stack that
 * somebody here may change, a folder of `lib` or `channels` or an npm package.
 *
 * @module
 */

/** A profile as V8's inspector gives it, as far as it is read here. */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

/** Microseconds by component, the largest first. Idle time is left out. */
export function componentTimes({ nodes, samples, timeDeltas }: CpuProfile): [string, number][] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));
  const named = new Map<number, string>();
  const nameOf = (id: number): string => {
    let name = named.get(id);
    if (name === undefined) {
      const { callFrame: { functionName, url } } = byId.get(id)!;
      const parent = parents.get(id);
      name = componentOf(url) ??
        (parent === undefined || functionName === "(garbage collector)"
          ? functionName === "(root)" ? "the runtime by itself" : functionName
          : nameOf(parent));
      named.set(id, name);
    }
    return name;
  };
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const { functionName } = byId.get(id)!.callFrame;
    if (functionName === "(idle)") continue;
    const name = functionName === "(program)" ? "native code outside of JavaScript" : nameOf(id);
    times.set(name, (times.get(name) ?? 0) + timeDeltas[index]!);
  }
  return [...times].sort(([, a], [, b]) => b - a);
}

function componentOf(url: string): string | undefined {
  const own = url.match(/\/((?:lib|channels)\/[^/]+)\//);
  if (own !== null) return own[1];
  const npm = url.match(/\/((?:@[^/]+\/)?[^/@]+)\/\d+\.\d+\.\d+[^/]*\//) ??
    url.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/);
  return npm === null ? undefined : `npm:${npm[1]}`;
}
