import { displayWidth } from "./display_width.ts";

/** Lines of at most so many columns, broken at blanks where there are some. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const columns = displayWidth(word);
    if (line !== "" && displayWidth(line) + 1 + columns <= width) {
      line += ` ${word}`;
      continue;
    }
    // Chinese has no blanks, and an address may be longer than a line: they begin where there is room.
    const breaks = columns > width || columns > word.length;
    if (line !== "" && breaks && displayWidth(line) + 2 < width) line += " ";
    else if (line !== "") {
      lines.push(line);
      line = "";
    }
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
