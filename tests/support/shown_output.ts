/**
 * Compares what a program printed with what a page shows of it. In what is shown, `…` stands for
 * anything in a line, and a member `"…"` of an object for any further ones.
 *
 * @module
 */

/** Members that hold a moment, in seconds: any will do. */
const MOMENTS = new Set(["created", "created_at", "completed_at", "expires_at"]);

/** Whether a printed text is the shown one; carriage returns and blank ends do not count. */
export function isShownText(shown: string, printed: string): boolean {
  const pattern = shown.trim().split("…").map(escape).join("[^\\n]*");
  return new RegExp(`^${pattern}$`).test(printed.replaceAll("\r", "").trim());
}

/** Where a printed value is not the shown one; undefined when it is. */
export function differenceFromShown(
  shown: unknown,
  printed: unknown,
  at = "$",
): string | undefined {
  if (shown === "…") return undefined;
  if (typeof shown === "string" && typeof printed === "string") {
    return isShownText(shown, printed) ? undefined : `${at}: ${printed}`;
  }
  if (Array.isArray(shown) && Array.isArray(printed)) {
    if (shown.length !== printed.length) return `${at}: ${printed.length} items`;
    return first(
      shown.map((item, index) => differenceFromShown(item, printed[index], `${at}[${index}]`)),
    );
  }
  if (isObject(shown) && isObject(printed)) return differentMember(shown, printed, at);
  return shown === printed ? undefined : `${at}: ${JSON.stringify(printed)}`;
}

function differentMember(
  shown: Record<string, unknown>,
  printed: Record<string, unknown>,
  at: string,
): string | undefined {
  const { "…": rest, ...members } = shown;
  const more = Object.keys(printed).filter((name) => !Object.hasOwn(members, name));
  if (rest === undefined && more.length > 0) return `${at}: also has ${more.join(", ")}`;
  return first(
    Object.entries(members).map(([name, value]) => {
      if (!Object.hasOwn(printed, name)) return `${at}.${name}: not there`;
      if (MOMENTS.has(name) && Number.isInteger(value) && Number.isInteger(printed[name])) {
        return undefined;
      }
      return differenceFromShown(value, printed[name], `${at}.${name}`);
    }),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function first(differences: (string | undefined)[]): string | undefined {
  return differences.find((difference) => difference !== undefined);
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
