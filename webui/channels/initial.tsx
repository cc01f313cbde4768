/** What stands for a name at a glance: its first letter, in a tint that the name gives. */
export function Initial({ of }: { of: string }) {
  const hue = [...of].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 360, 0);
  return (
    <span class="initial" style={{ "--hue": hue }} aria-hidden="true">
      {[...of][0]?.toUpperCase()}
    </span>
  );
}
