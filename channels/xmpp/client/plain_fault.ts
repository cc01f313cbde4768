/** An error of a connection in words for people: without the names and pages of what it is built on. */
export function plainFault(error: Error): Error {
  // A server that dies says no goodbye; Deno's TLS tells that with a link to its own manual.
  if (/close_notify|unexpected.?eof/i.test(error.message)) {
    return new Error("the server has cut the connection off", { cause: error });
  }
  const refused = /\s*\(os error \d+\)/;
  return refused.test(error.message)
    ? new Error(error.message.replace(refused, ""), { cause: error })
    : error;
}
