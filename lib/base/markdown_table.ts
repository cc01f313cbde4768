/** A table of Markdown as `deno fmt` would have it; the first row is its head. */
export function markdownTable([head, ...rows]: string[][]): string {
  const widths = head!.map((_, column) =>
    Math.max(...[head!, ...rows].map((row) => row[column]!.length))
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`;
  return line(head!) + line(widths.map((width) => "-".repeat(width))) + rows.map(line).join("");
}
