/** How long a text is: in code points, in UTF-16 units, in bytes of UTF-8, or as a platform counts. */
export type TextMeasure = "characters" | "utf16" | "bytes" | ((text: string) => number);

const encoder = new TextEncoder();

/** A function that measures. One that is given must never say that a part of a text is longer than it. */
export function measureBy(measure: TextMeasure): (text: string) => number {
  switch (measure) {
    case "utf16":
      return (text) => text.length;
    case "characters":
      return (text) => {
        let count = 0;
        for (const _ of text) count += 1;
        return count;
      };
    case "bytes":
      return (text) => encoder.encode(text).length;
    default:
      return measure;
  }
}
