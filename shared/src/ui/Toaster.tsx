import CheckIcon from 'lucide-react/icons/check';
import AlertIcon from 'lucide-react/icons/circle-alert';
import { useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { listenTo, stopAll } from '../format/browser';
import { followKeyboard, overlayContainer } from './overlays';
import styles from './Toaster.module.css';

export interface ShownToast {
  id: string;
  text: string;
  kind?: 'plain' | 'success' | 'error';
  action?: { label: string; run: () => void };
}

/**
 * Shows the given toasts above the element with `data-foot` at the bottom. Over an open sheet or dialog they are at the top, since
 * its buttons are at the bottom. The owner decides how long they stay.
 */
export function Toaster({ toasts, label = '提示' }: { toasts: readonly ShownToast[]; label?: string }) {
  // Elements outside an open modal are inert: hidden from screen readers and not clickable.
  const modal = useSyncExternalStore(watchModals, topModal, () => null);
  return createPortal(
    <section
      ref={toasts.length > 0 ? attachToaster : undefined}
      data-toasts
      className={styles.place}
      aria-label={label}
      aria-live="polite"
    >
      {toasts.map(({ id, text, kind = 'plain', action }) => (
        <div key={id} className={styles.toast}>
          {kind === 'success' && <CheckIcon size={18} />}
          {kind === 'error' && <AlertIcon size={18} />}
          <span className={styles.text}>{text}</span>
          {action && (
            <button type="button" className={styles.action} onClick={action.run}>
              {action.label}
            </button>
          )}
        </div>
      ))}
    </section>,
    modal ?? overlayContainer(),
  );
}

const topModal = () => [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')].at(-1) ?? null;

function watchModals(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document, { subtree: true, attributeFilter: ['open'] });
  return () => observer.disconnect();
}

const attachToaster = (section: HTMLElement) => stopAll(positionAboveFoot(section), trackHold(section));

/** Sets `data-held` while a finger is on a toast, for the owner of the timers. Returns the cleanup function. */
function trackHold(section: HTMLElement): () => void {
  const setHeld = (isHeld: boolean) => section.toggleAttribute('data-held', isHeld);
  return stopAll(
    listenTo(section, ['pointerdown'], () => setHeld(true)),
    listenTo(window, ['pointerup', 'pointercancel'], () => setHeld(false), { capture: true }),
  );
}

const POLL_MS = 200;

/** Part of the window in px that stays for toasts above a tall bar. */
const ROOM = 96;

/**
 * Height in px from the window's bottom to the top of the bar above the keyboard. Includes buttons that a toast just above the bar
 * would cover. Ignores bars of hidden screens, those further up in a page, and the tall rail of a wide window.
 */
function footHeight(keyboardHeight: number): number {
  const isBar = ({ width, height }: DOMRect) => height > 0 && (height < innerHeight / 2 || width > innerWidth / 2);
  const boxes = [...document.querySelectorAll('[data-foot]')].map((foot) => foot.getBoundingClientRect()).filter(isBar);
  const height = boxes
    .sort((one, other) => other.bottom - one.bottom)
    .reduce(
      (below, box) => (innerHeight - box.bottom < below + ROOM ? Math.max(below, innerHeight - box.top) : below),
      keyboardHeight,
    );
  return Math.min(innerHeight - ROOM, height);
}

/** Follows the bar while a toast shows: the screen, the composer or the keyboard may change its height. Returns the cleanup function. */
function positionAboveFoot(section: HTMLElement): () => void {
  const stopFollowing = followKeyboard(section);
  const updatePosition = () => {
    const keyboardHeight = Number.parseFloat(section.style.getPropertyValue('--keyboard')) || 0;
    section.style.setProperty('--foot', `${Math.round(footHeight(keyboardHeight))}px`);
  };
  updatePosition();
  const timer = setInterval(updatePosition, POLL_MS);
  return stopAll(() => clearInterval(timer), stopFollowing);
}
