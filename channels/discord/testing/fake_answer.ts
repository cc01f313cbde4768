/**
 * What Discord answers: errors, limits, and what it takes (developer documentation, "Opcodes and Status
 * Codes", "Rate Limits").
 *
 * @module
 */

/** What is answered. */
export interface FakeAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** Said as JSON in place of the body, or as what the headers say. */
  raw?: string;
  /** The connection is cut instead. */
  isCut?: boolean;
}

/** What is wrong with a message, as Discord says it. */
export function problemOf(
  content: string,
  files: readonly { size: number }[],
): FakeAnswer | undefined {
  if (content.trim() === "" && files.length === 0) {
    return refused(400, 50006, "Cannot send an empty message");
  }
  if ([...content].length > 2_000) {
    const errors = [{ code: "BASE_TYPE_MAX_LENGTH", message: "Must be 2000 or fewer in length." }];
    return {
      status: 400,
      body: {
        code: 50035,
        message: "Invalid Form Body",
        errors: { content: { _errors: errors } },
      },
    };
  }
  return files.some(({ size }) => size > 10 * 1024 * 1024)
    ? refused(413, 40005, "Request entity too large")
    : undefined;
}

/** Whether everybody would be called. */
export function pings(
  { allowed_mentions: allowed }: Readonly<Record<string, unknown>>,
  content: string,
): boolean {
  const { parse } = allowed as { parse?: string[] } ?? {};
  return /@(everyone|here)/.test(content) && (parse === undefined || parse.includes("everyone"));
}

/** What was asked for. */
export function done(body: unknown): FakeAnswer {
  return { status: 200, body };
}

/** An error as Discord says it. */
export function refused(status: number, code: number, message: string): FakeAnswer {
  return { status, body: { code, message } };
}

/** That it is too much, as Discord says it. */
export function tooMany(seconds: number, { global = false } = {}): FakeAnswer {
  return {
    status: 429,
    body: { message: "You are being rate limited.", retry_after: seconds, global },
    headers: {
      "Retry-After": String(Math.ceil(seconds)),
      "X-RateLimit-Scope": global ? "global" : "user",
      ...global ? { "X-RateLimit-Global": "true" } : {
        "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset-After": String(seconds),
        "X-RateLimit-Bucket": "80c17d2f203122d936070c88c8d10f33",
      },
    },
  };
}
