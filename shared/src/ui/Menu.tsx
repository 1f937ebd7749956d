import clsx from 'clsx';
import MoreIcon from 'lucide-react/icons/ellipsis';
import { type KeyboardEvent, type ReactNode, type ToggleEvent, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from './IconButton';
import styles from './Menu.module.css';

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
}

export interface MenuProps {
  /** What the button is called, e.g. 更多操作. */
  label: string;
  items: readonly MenuItem[];
  icon?: ReactNode;
}

/** A ⋯ button with its menu, on the platform's popover: light dismiss and Escape come with it. */
export function Menu({ label, items, icon = <MoreIcon size={20} /> }: MenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const isOpen = useRef(false);
  // A page that is hidden or leaves must not keep its menu in the top layer.
  useLayoutEffect(() => {
    const element = menu.current;
    return () => {
      if (isOpen.current) element?.hidePopover();
    };
  }, []);
  const place = (event: ToggleEvent<HTMLDivElement>) => {
    if (event.newState === 'open' && trigger.current) placeBeside(trigger.current, event.currentTarget);
  };
  const followToggle = (event: ToggleEvent<HTMLDivElement>) => {
    isOpen.current = event.newState === 'open';
    if (isOpen.current) itemsOf(event.currentTarget)[0]?.focus();
  };
  return (
    <>
      <IconButton ref={trigger} label={label} icon={icon} popoverTarget={id} aria-haspopup="menu" />
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className={styles.menu}
        onBeforeToggle={place}
        onToggle={followToggle}
        onKeyDown={moveFocus}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            className={clsx(styles.item, item.danger && styles.danger)}
            disabled={item.disabled}
            popoverTarget={id}
            popoverTargetAction="hide"
            onClick={item.onSelect}
          >
            {item.icon}
            {item.label}
          </button>
        ))}
      </div>
    </>
  );
}

const itemsOf = (menu: HTMLElement) => [
  ...menu.querySelectorAll<HTMLButtonElement>('[role="menuitem"]:not(:disabled)'),
];

function moveFocus(event: KeyboardEvent<HTMLDivElement>) {
  const items = itemsOf(event.currentTarget);
  const here = items.findIndex((item) => item.matches(':focus'));
  const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  items.at(next % items.length)?.focus();
}

const GAP_PX = 4;

/** Under the button, or above it in the lower half of the window; aligned at the edge that is nearer. */
function placeBeside(trigger: HTMLElement, menu: HTMLElement) {
  const rect = trigger.getBoundingClientRect();
  const below = rect.top + rect.height / 2 < innerHeight / 2;
  const atRight = rect.left + rect.width / 2 > innerWidth / 2;
  menu.style.top = below ? `${rect.bottom + GAP_PX}px` : 'auto';
  menu.style.bottom = below ? 'auto' : `${innerHeight - rect.top + GAP_PX}px`;
  menu.style.left = atRight ? 'auto' : `${rect.left}px`;
  menu.style.right = atRight ? `${document.documentElement.clientWidth - rect.right}px` : 'auto';
}
