/**
 * What a call may tell in all: a child that tells without end fills nobody's memory.
 *
 * @module
 */

/** Passes texts on until there were so many, or so many characters; what is more is dropped. */
export function boundedProgress(
  onProgress: (text: string) => void,
  { maxChars, maxTexts }: { maxChars: number; maxTexts: number },
): (text: string) => void {
  let charsLeft = maxChars;
  let textsLeft = maxTexts;
  return (text) => {
    const told = text.slice(0, charsLeft);
    if (told === "" || textsLeft === 0) return;
    charsLeft -= told.length;
    textsLeft--;
    onProgress(told);
  };
}
