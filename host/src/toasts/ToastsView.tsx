import { useToasts } from '@liaozhai/shared/runtime';
import { Toaster } from '@liaozhai/shared/ui';

const tones = { plain: 'plain', success: 'done', error: 'failed' } as const;

/** Draws the runtime's toasts. */
export function ToastsView() {
  const toasts = useToasts();
  return (
    <Toaster
      toasts={toasts.map(({ id, text, kind, action }) => ({
        id: String(id),
        text,
        tone: tones[kind ?? 'plain'],
        action: action && { label: action.label, onAction: action.run },
      }))}
    />
  );
}
