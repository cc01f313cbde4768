import { displayWidth } from "./display_width.ts";

/** Lines of at most so many columns, broken at blanks where there are some. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && displayWidth(line) + 1 + displayWidth(word) <= width) {
      line += ` ${word}`;
      continue;
    }
    if (line !== "") lines.push(line);
    line = "";
    // Chinese has no blanks, and an address may be longer than a line.
    for (const char of word) {
      if (displayWidth(line + char) > width && line !== "") {
        lines.push(line);
        line = "";
      }
      line += char;
    }
  }
  return [...lines, line];
}
