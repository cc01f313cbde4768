/** A count with its noun: `1 turn`, `2 turns`, `10,000 turns`, `no turns`. */
export function plural(count: number | "no", noun: string, several = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : several}`;
}
