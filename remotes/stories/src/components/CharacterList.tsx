import { Avatar } from '@liaozhai/shared/ui';
import type { Character } from '../model';
import { texts } from '../texts';
import styles from './CharacterList.module.css';

export function CharacterList({ characters }: { characters: Character[] }) {
  return (
    <section aria-label={texts.story.characters}>
      <h2 className={styles.heading}>{texts.story.characters}</h2>
      <ul className={styles.list}>
        {characters.map((character) => (
          <li key={character.id} className={styles.character}>
            <Avatar name={character.name} src={character.avatarUrl} decorative />
            <div>
              <h3 className={styles.name}>{character.name}</h3>
              {character.intro && <p className={styles.intro}>{character.intro}</p>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
