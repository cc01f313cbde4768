/** A count with its noun: `1 turn`, `2 turns`. */
export function plural(count: number, noun: string, several = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : several}`;
}
