/**
 * What goes wrong with calls of the Bot API, one after the other.
 *
 * @module
 */

/** Which calls fail. */
export interface FailOptions {
  /** So many; default 1. */
  times?: number;
  /** Behind so many that do not. */
  behind?: number;
  /** What stands beside the words of a refusal. */
  parameters?: object;
}

/** What happens to calls of a method. */
export interface Trouble extends FailOptions {
  method: RegExp;
  /** The call is carried out before that. */
  isCarriedOut?: boolean;
  answer: () => Response;
}

export class Troubles {
  readonly #waiting: Required<Pick<Trouble, "times" | "behind"> & { trouble: Trouble }>[] = [];

  add(trouble: Trouble): void {
    const { times = 1, behind = 0 } = trouble;
    this.#waiting.push({ trouble, times, behind });
  }

  /** What happens to the next call of a method; undefined where all goes well. */
  next(method: string): Trouble | undefined {
    const one = this.#waiting.find(({ times, trouble }) =>
      times > 0 && trouble.method.test(method)
    );
    if (one === undefined) return undefined;
    if (one.behind > 0) {
      one.behind -= 1;
      return undefined;
    }
    one.times -= 1;
    return one.trouble;
  }
}

/** An answer with `ok: false`. */
export function refusal(code: number, description: string, parameters?: object): Response {
  return Response.json(
    { ok: false, error_code: code, description, ...parameters !== undefined && { parameters } },
    { status: code },
  );
}
