/**
 * @module
 */

/** The service can't be reached. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** As `fetch`, but that it rejects with {@linkcode Unreachable}, or as the signal has it. */
export async function reach(address: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (cause) {
    init.signal?.throwIfAborted();
    throw new Unreachable("The service can't be reached", { cause });
  }
}

/** The service refused something, in its own words. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    message: string,
    readonly status: number,
    /** Stable slug. */
    readonly code: string,
    /** Field that is wrong. */
    readonly param?: string,
  ) {
    super(message);
  }

  /** From a response that is not ok. */
  static async of(response: Response): Promise<ApiError> {
    const { error } = await response.json().catch(() => ({ error: {} }));
    const { message = response.statusText, code = "unknown", param } = error ?? {};
    return new ApiError(message, response.status, code, param ?? undefined);
  }
}
