/**
 * Which packages come with a dependency, by the lock.
 *
 * @module
 */

/** What a package needs; what is optional is fetched too. */
interface LockedPackage {
  dependencies?: readonly string[];
  optionalDependencies?: readonly string[];
}

/** What is read of `deno.lock`, version 5. */
export interface Lock {
  /** `npm:<name>@<version>`, and the version with what its peers are. */
  specifiers: Readonly<Record<string, string>>;
  /** By `<name>@<version>`, with what its peers are. */
  npm: Readonly<Record<string, LockedPackage>>;
}

/**
 * `<name>@<version>` of the dependencies and everything that they depend on, each once.
 * A dependency that isn't in the lock stands for itself.
 */
export function lockedClosure(dependencies: readonly string[], lock: Lock): string[] {
  const byName = new Map(Object.keys(lock.npm).map((id) => [nameOf(id), id]));
  const ids = new Set(dependencies.map((dependency) => {
    const plain = dependency.replace(/^npm:/, "");
    const version = lock.specifiers[dependency];
    return version === undefined ? plain : `${nameOf(plain)}@${version}`;
  }));
  // Grows while it is walked.
  for (const id of ids) {
    const { dependencies = [], optionalDependencies = [] } = lock.npm[id] ?? {};
    for (const name of [...dependencies, ...optionalDependencies]) {
      // The lock leaves the version out where it has one only.
      ids.add(lock.npm[name] === undefined ? byName.get(name) ?? name : name);
    }
  }
  return [...new Set([...ids].map(withoutPeers))];
}

function nameOf(id: string): string {
  const end = id.indexOf("@", 1);
  return end === -1 ? id : id.slice(0, end);
}

function withoutPeers(id: string): string {
  const peers = id.indexOf("_", nameOf(id).length);
  return peers === -1 ? id : id.slice(0, peers);
}
