import CheckIcon from 'lucide-react/icons/check';
import AlertIcon from 'lucide-react/icons/circle-alert';
import { useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import styles from './Toaster.module.css';
import { overlayPlace } from './useModalDialog';

export interface Toast {
  id: string;
  text: string;
  tone?: 'plain' | 'done' | 'failed';
  action?: { label: string; onAction: () => void };
}

/** Draws the toasts it is given, at the top edge, away from the composer; how long they live is the owner's. */
export function Toaster({ toasts, label = '提示' }: { toasts: readonly Toast[]; label?: string }) {
  // Everything outside an open modal is inert: hidden from screen readers and not clickable.
  const modal = useSyncExternalStore(watchModals, topModal, () => null);
  return createPortal(
    <section className={styles.place} aria-label={label} aria-live="polite">
      {toasts.map(({ id, text, tone = 'plain', action }) => (
        <div key={id} className={styles.toast}>
          {tone === 'done' && <CheckIcon size={18} />}
          {tone === 'failed' && <AlertIcon size={18} />}
          <span className={styles.text}>{text}</span>
          {action && (
            <button type="button" className={styles.action} onClick={action.onAction}>
              {action.label}
            </button>
          )}
        </div>
      ))}
    </section>,
    modal ?? overlayPlace(),
  );
}

const topModal = () => [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')].at(-1) ?? null;

function watchModals(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document, { subtree: true, attributeFilter: ['open'] });
  return () => observer.disconnect();
}
