import { Avatar } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { texts } from '../texts';
import styles from './AvatarPicker.module.css';

interface AvatarPickerProps {
  /** addresses of the pictures on offer; those that do not load are left out */
  choices: readonly string[];
  value: string;
  name: string;
  onChange: (avatar: string) => void;
}

/** The portrait as it is, and the others one may take. */
export function AvatarPicker({ choices, value, name, onChange }: AvatarPickerProps) {
  const [broken, setBroken] = useState<readonly string[]>([]);
  const offered = choices.filter((choice) => !broken.includes(choice));
  return (
    <fieldset className={styles.picker}>
      <legend className={styles.legend}>{texts.profile.avatar}</legend>
      <div className={styles.line}>
        <Avatar name={name} src={value} size="large" decorative />
        <div className={styles.choices}>
          {offered.map((choice, index) => (
            <label key={choice} className={styles.choice}>
              <input
                className={styles.input}
                type="radio"
                name="avatar"
                value={choice}
                checked={choice === value}
                onChange={() => onChange(choice)}
              />
              <img
                className={styles.picture}
                src={choice}
                alt={texts.profile.avatarChoice(index + 1)}
                onError={() => setBroken((known) => [...known, choice])}
              />
            </label>
          ))}
        </div>
      </div>
    </fieldset>
  );
}
