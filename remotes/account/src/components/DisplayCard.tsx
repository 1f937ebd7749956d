import { useFontSize, useTheme } from '@liaozhai/shared/runtime';
import { Card, RadioGroup } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './DisplayCard.module.css';

const themes = [
  { value: 'system', label: texts.display.themes.system },
  { value: 'light', label: texts.display.themes.light },
  { value: 'dark', label: texts.display.themes.dark },
] as const;

const fontSizes = [
  { value: '1', label: texts.display.fontSizes[1] },
  { value: '2', label: texts.display.fontSizes[2] },
  { value: '3', label: texts.display.fontSizes[3] },
  { value: '4', label: texts.display.fontSizes[4] },
] as const;

/** Theme and font size of this device, with a line of story text to judge by. */
export function DisplayCard() {
  const [theme, setTheme] = useTheme();
  const [fontSize, setFontSize] = useFontSize();
  return (
    <Card aria-label={texts.display.title}>
      <div className={styles.groups}>
        <RadioGroup
          legend={texts.display.theme}
          name="theme"
          options={themes}
          value={theme}
          onChange={(value) => setTheme(value)}
        />
        <RadioGroup
          legend={texts.display.fontSize}
          name="font-size"
          options={fontSizes}
          value={`${fontSize}` as const}
          onChange={(value) => setFontSize(Number(value) as typeof fontSize)}
        />
      </div>
      <p className={styles.sample}>{texts.display.sample}</p>
    </Card>
  );
}
