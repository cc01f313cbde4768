/** A QR code, black on white in both themes: so it is read. */

import { encodeQR } from "qr";
import { useMemo } from "preact/hooks";

/** Columns of light around it (ISO/IEC 18004, 5.3.8). */
const QUIET = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = useMemo(() => encodeQR(text, "raw", { border: QUIET, ecc: "low" }), [text]);
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => isDark ? `M${x} ${y}h1v1h-1z` : [])
  );
  return (
    <svg
      class="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
    >
      <path d={dark.join("")} />
    </svg>
  );
}
