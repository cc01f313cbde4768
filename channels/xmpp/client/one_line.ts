/** What somebody else has said, fit to stand in a line of ours. */
export function oneLine(text: string, maxChars: number): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, maxChars).toWellFormed();
}
