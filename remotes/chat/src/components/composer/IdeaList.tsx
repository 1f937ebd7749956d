import { CloseIcon, IconButton, SendIcon, VisuallyHidden } from '@liaozhai/shared/ui';
import type { Ideas } from '../../slice';
import { texts } from '../../texts';
import styles from './IdeaList.module.css';

interface IdeaListProps {
  ideas: Ideas;
  /** A tap fills the composer with it, the arrow sends it as it is. */
  onUse: (idea: { id: string; text: string }) => void;
  onSend: (idea: { id: string; text: string }) => void;
  onClose: () => void;
}

/** 灵感: what the reader might say next. */
export function IdeaList({ ideas, onUse, onSend, onClose }: IdeaListProps) {
  if (ideas.status === 'pending') return <IdeaSkeleton />;
  return (
    <section className={styles.panel} aria-label={texts.suggest.label}>
      <ul className={styles.list}>
        {ideas.items.map((idea) => (
          <li key={idea.id} className={styles.idea}>
            <button
              type="button"
              className={styles.use}
              aria-label={texts.suggest.use(idea.text)}
              onClick={() => onUse(idea)}
            >
              {idea.text}
            </button>
            <IconButton
              label={texts.suggest.send(idea.text)}
              icon={<SendIcon size={18} />}
              onClick={() => onSend(idea)}
            />
          </li>
        ))}
      </ul>
      <IconButton
        className={styles.close}
        label={texts.suggest.close}
        icon={<CloseIcon size={18} />}
        onClick={onClose}
      />
    </section>
  );
}

const IdeaSkeleton = () => (
  <div className={styles.panel} role="status">
    <VisuallyHidden>{texts.suggest.loading}</VisuallyHidden>
    <div className={styles.list} aria-hidden="true">
      {['wide', 'middle', 'short'].map((width) => (
        <span key={width} className={styles.blank} data-width={width} />
      ))}
    </div>
  </div>
);
