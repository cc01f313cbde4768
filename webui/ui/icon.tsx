/**
 * The icons: strokes on a grid of 24.
 *
 * @module
 */

const PATHS = {
  chat:
    "M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-5 4v-4.1a2.5 2.5 0 0 1-2-2.4z",
  approvals: "M12 3.5 5 6v5.5c0 4.3 2.9 7.3 7 9 4.1-1.7 7-4.7 7-9V6zM8.8 12l2.2 2.2 4.2-4.4",
  automations: "M12 7v5l3 2M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17z",
  channels:
    "M6 12a6 6 0 0 1 6-6M3 12a9 9 0 0 1 9-9M18 12a6 6 0 0 1-6 6M21 12a9 9 0 0 1-9 9M12 10.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
  secrets: "M14.5 4a5.5 5.5 0 1 1-4.9 8L4 17.6V20h3v-2h2v-2h2l1.2-1.2M16 8.5h.01",
  settings: "M4 7h9M17 7h3M4 12h3M11 12h9M4 17h7M15 17h5M15 5v4M9 10v4M13 15v4",
  permissions: "M7 11V8a5 5 0 0 1 10 0v3M5.5 11h13v9h-13zM12 14.5v2",
  audit: "M7 3.5h10v17H7zM10 8h4M10 12h4M10 16h2",
  logs: "M4 6h16M4 10h10M4 14h13M4 18h8",
  usage: "M5 20V11M10 20V5M15 20v-7M20 20V9",
  menu: "M4 7h16M4 12h16M4 17h16",
  signOut: "M10 4H5.5v16H10M14 8l4 4-4 4M18 12H9.5",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  light:
    "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2.5V5M12 19v2.5M2.5 12H5M19 12h2.5M5.3 5.3 7 7M17 17l1.7 1.7M18.7 5.3 17 7M7 17l-1.7 1.7",
  dark: "M20 14.2A8 8 0 0 1 9.8 4a8 8 0 1 0 10.2 10.2z",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  attach:
    "M19 11.5 12.4 18a4.2 4.2 0 0 1-6-6l6.9-6.8a2.8 2.8 0 0 1 4 4L10.5 16a1.4 1.4 0 0 1-2-2l6-6",
  voice:
    "M12 3.5a3 3 0 0 1 3 3V11a3 3 0 0 1-6 0V6.5a3 3 0 0 1 3-3zM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21",
  close: "M6 6l12 12M18 6 6 18",
  more:
    "M5 12h.02M12 12h.02M19 12h.02M5 12.3h.02M12 12.3h.02M19 12.3h.02M5 11.7h.02M12 11.7h.02M19 11.7h.02",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5 10 17 19 7",
  retry: "M19.5 12a7.5 7.5 0 1 1-2.4-5.5M17.5 3v4h-4",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  fork: "M7 4v6a4 4 0 0 0 4 4h2a4 4 0 0 0 4-4V4M12 14v6M5 6l2-2 2 2M15 6l2-2 2 2",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  file: "M7 3.5h7l4 4v13H7zM14 3.5v4h4",
  image: "M4 5h16v14H4zM4 16l4.5-4.5 4 4L15 13l5 5M9 9h.01",
  tool:
    "M14.5 6.5a4 4 0 0 1 5-2l-2.7 2.7.9 2.1 2.1.9L22 7.5a4 4 0 0 1-5.8 4.7L9 19.5A2.5 2.5 0 0 1 5.5 16z",
  thought: "M12 4a6 6 0 0 0-3.5 10.9V17h7v-2.1A6 6 0 0 0 12 4zM9.5 20h5",
  chevron: "M9 6l6 6-6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  list: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  warning: "M12 4 2.8 19.5h18.4zM12 10v4M12 17h.01",
  offline:
    "M4 4l16 16M8.5 8.6A11 11 0 0 0 4.5 11M2 8.3a15 15 0 0 1 3.4-2.2M12 6c3.9 0 7.4 1 10 2.3M15.5 12.2c1.5.4 2.9 1.1 4 2M9 15.5a5 5 0 0 1 4.4-1.3M12 19h.01",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5 20 20",
  pin: "M9 4h6l-.8 6 2.8 3H7l2.8-3zM12 13v7",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS | "logo";

/** An icon beside words that say the same, so it is hidden from who listens. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  if (name === "logo") {
    return (
      <svg class="icon" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
        <rect width="32" height="32" rx="9" fill="var(--accent)" />
        <path
          d="M9 11.5A3.5 3.5 0 0 1 12.500 8h7a3.500 3.500 0 0 1 3.500 3.500v5a3.500 3.500 0 0 1-3.500 3.500H16l-4.400 3.600c-.65.53-1.600.07-1.600-.77V19.600A3.500 3.500 0 0 1 9 17z"
          fill="var(--on-accent)"
        />
      </svg>
    );
  }
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      width={size}
      height={size}
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
