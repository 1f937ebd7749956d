import { Button, CheckIcon } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { texts } from '../texts';
import styles from './SaveBar.module.css';
import type { ProfileForm } from './useProfileForm';

/** Ends the form; with something to say it stays in sight. */
export function SaveBar({ form: { isDirty, isSaving, isSaved } }: { form: ProfileForm }) {
  return (
    <div className={clsx(styles.bar, (isDirty || isSaved) && styles.speaking)}>
      <p className={styles.state} role="status">
        {isDirty && texts.profile.unsaved}
        {isSaved && (
          <span className={styles.saved}>
            <CheckIcon size={18} />
            {texts.profile.saved}
          </span>
        )}
      </p>
      <Button type="submit" loading={isSaving} disabled={!isDirty}>
        {texts.profile.save}
      </Button>
    </div>
  );
}
