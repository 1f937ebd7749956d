import clsx from 'clsx';
import MoreIcon from 'lucide-react/icons/ellipsis';
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import { IconButton } from './Button';
import styles from './Menu.module.css';
import { overlayContainer } from './overlays';
import { useModalDialog, usePresence } from './useModalDialog';

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
}

export interface MenuProps {
  /** Accessible name of the button, e.g. 更多操作. */
  label: string;
  items: readonly MenuItem[];
  icon?: ReactNode;
}

/** A ⋯ button with a menu. A tap outside, Escape, Tab and the back gesture only close it. */
export function Menu({ label, items, icon = <MoreIcon size={20} /> }: MenuProps) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const [isByKeyboard, setByKeyboard] = useState(false);
  const isPresent = usePresence(open);
  const show = ({ detail }: MouseEvent) => {
    // a click without a pointer comes from the keyboard
    setByKeyboard(detail === 0);
    setOpen(true);
  };
  return (
    <>
      <IconButton ref={trigger} label={label} icon={icon} aria-haspopup="menu" aria-expanded={open} onClick={show} />
      {isPresent &&
        createPortal(
          <MenuOverlay
            label={label}
            items={items}
            trigger={trigger}
            open={open}
            focusFirst={isByKeyboard}
            onClose={() => setOpen(false)}
          />,
          overlayContainer(),
        )}
    </>
  );
}

interface MenuOverlayProps extends Pick<MenuProps, 'label' | 'items'> {
  trigger: RefObject<HTMLElement | null>;
  open: boolean;
  /** Focuses the first item when opened by keyboard; a touch needs no focus ring. */
  focusFirst: boolean;
  onClose: () => void;
}

/** A modal dialog, because the oldest supported browsers lack `popover`. */
function MenuOverlay({ label, items, trigger, open, focusFirst, onClose }: MenuOverlayProps) {
  const menu = useRef<HTMLDivElement>(null);
  const { onPointerDown, ...dialog } = useModalDialog({ open, onClose });
  useLayoutEffect(() => {
    if (!open || !menu.current || !trigger.current) return;
    placeBeside(trigger.current, menu.current);
    const target = focusFirst ? itemsOf(menu.current)[0] : undefined;
    (target ?? menu.current).focus();
  }, [open, focusFirst, trigger]);
  const stopAtMenu = (event: PointerEvent) => {
    // React bubbles the event through the component tree, which may contain a swipeable row
    event.stopPropagation();
    onPointerDown(event);
  };
  return (
    <dialog {...dialog} onPointerDown={stopAtMenu} className={styles.overlay} aria-label={label}>
      <div
        ref={menu}
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className={styles.menu}
        onKeyDown={(event) => (event.key === 'Tab' ? onClose() : moveFocus(event))}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            className={clsx(styles.item, item.danger && styles.danger)}
            disabled={item.disabled}
            onClick={() => {
              onClose();
              item.onSelect();
            }}
          >
            {item.icon}
            <span>{item.label}</span>
          </button>
        ))}
      </div>
    </dialog>
  );
}

const itemsOf = (menu: HTMLElement) => [
  ...menu.querySelectorAll<HTMLButtonElement>('[role="menuitem"]:not(:disabled)'),
];

function moveFocus(event: KeyboardEvent<HTMLDivElement>) {
  const items = itemsOf(event.currentTarget);
  const focusedIndex = items.findIndex((item) => item.matches(':focus'));
  const nextIndex = { ArrowDown: focusedIndex + 1, ArrowUp: Math.max(focusedIndex, 0) - 1, Home: 0, End: -1 }[
    event.key
  ];
  if (nextIndex === undefined) return;
  event.preventDefault();
  items.at(nextIndex % items.length)?.focus();
}

const GAP_PX = 4;

/** Below the button, or above it in the lower half of the window; aligned with its nearer edge. */
function placeBeside(trigger: HTMLElement, menu: HTMLElement) {
  const rect = trigger.getBoundingClientRect();
  const isBelow = rect.top + rect.height / 2 < innerHeight / 2;
  const isAtRight = rect.left + rect.width / 2 > innerWidth / 2;
  menu.style.top = isBelow ? `${rect.bottom + GAP_PX}px` : 'auto';
  menu.style.bottom = isBelow ? 'auto' : `${innerHeight - rect.top + GAP_PX}px`;
  menu.style.left = isAtRight ? 'auto' : `${rect.left}px`;
  menu.style.right = isAtRight ? `${document.documentElement.clientWidth - rect.right}px` : 'auto';
}
