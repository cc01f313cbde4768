import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

/** An entry of a menu. */
export interface MenuItem {
  label: string;
  icon?: IconName;
  isChosen?: boolean;
  isDanger?: boolean;
  run(): void;
}

/** A button that opens a list of actions; arrow keys move in it, and Escape closes it. */
export function Menu(
  { label, items, children, className = "icon-button small" }: {
    label: string;
    items: readonly MenuItem[];
    children: preact.ComponentChildren;
    className?: string;
  },
) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  // A long list has a menu in each row: what is in one is made when it opens.
  const isOpen = useSignal(false);

  function place(event: { newState: string }) {
    isOpen.value = event.newState === "open";
    if (!isOpen.value || list.current === null || button.current === null) return;
    const at = button.current.getBoundingClientRect();
    const { offsetWidth, offsetHeight, style } = list.current;
    const left = Math.min(at.left, innerWidth - offsetWidth - 8);
    const isBelow = at.bottom + offsetHeight + 8 < innerHeight;
    style.left = `${Math.max(8, left)}px`;
    style.top = `${Math.max(8, isBelow ? at.bottom + 4 : at.top - offsetHeight - 4)}px`;
  }

  function move(event: KeyboardEvent) {
    const buttons = [...list.current!.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = event.key === "ArrowDown"
      ? at + 1
      : event.key === "ArrowUp"
      ? at - 1
      : event.key === "Home"
      ? 0
      : event.key === "End"
      ? -1
      : undefined;
    if (to === undefined) return;
    event.preventDefault();
    buttons.at(to % buttons.length)?.focus();
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        class={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        popovertarget={id}
      >
        {children}
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        onBeforeToggle={({ newState }) => {
          // As it closes, the focus is still in it, and goes back to the button.
          if (newState === "open") isOpen.value = true;
        }}
        onToggle={place}
        onKeyDown={move}
      >
        {isOpen.value && items.map(({ label, icon, isChosen, isDanger, run }, at) => (
          <button
            key={label}
            type="button"
            autofocus={at === 0}
            role={isChosen === undefined ? "menuitem" : "menuitemradio"}
            aria-checked={isChosen}
            class={isDanger ? "danger" : undefined}
            onClick={() => {
              list.current?.hidePopover();
              run();
            }}
          >
            {icon !== undefined && <Icon name={icon} size={16} />}
            <span>{label}</span>
            {isChosen === true && <Icon name="check" size={16} />}
          </button>
        ))}
      </div>
    </>
  );
}
