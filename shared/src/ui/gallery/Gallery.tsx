import { ButtonStates } from './ButtonStates';
import { DataFaces } from './DataFaces';
import { FieldStates } from './FieldStates';
import styles from './Gallery.module.css';
import { GestureStates } from './GestureStates';
import { Overlays } from './Overlays';
import { Pieces } from './Pieces';

const themes = [
  { name: 'light', title: '宣纸' },
  { name: 'dark', title: '墨' },
] as const;

/** Every component in every state, in both themes side by side; shown at /test/list in development. */
export default function Gallery() {
  return (
    <div className={styles.themes}>
      {themes.map(({ name, title }) => (
        <div key={name} className={styles.theme} data-theme={name}>
          <h2 className={styles.heading}>{title}</h2>
          <ButtonStates />
          <FieldStates theme={name} />
          <Pieces />
          <DataFaces />
          <GestureStates />
          <Overlays />
        </div>
      ))}
    </div>
  );
}
