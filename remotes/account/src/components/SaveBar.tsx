import { Button, CheckIcon } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './SaveBar.module.css';
import type { ProfileForm } from './useProfileForm';

/** Stays in sight while the form is: what is the matter, and the button that mends it. */
export function SaveBar({ form: { isDirty, isSaving, isSaved } }: { form: ProfileForm }) {
  return (
    <div className={styles.bar}>
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
