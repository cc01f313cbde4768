/**
 * A logger for client libraries that writes nothing: theirs write requests and messages to the console, and
 * what is worth knowing is said in the channel's own words.
 *
 * @module
 */

class SilentLogger {
  readonly level = "silent";
  trace() {}
  debug() {}
  info() {}
  warn() {}
  error() {}
  setLevel() {}
  setName() {}
  /** Each library has levels of its own. */
  getLevel = () => "error" as never;
  child = (): SilentLogger => this;
  getChild = (): SilentLogger => this;
}

/** As each library's own, which differ in what they have beside it. */
export const silentLogger: SilentLogger = new SilentLogger();
