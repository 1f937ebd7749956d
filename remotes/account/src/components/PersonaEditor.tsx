import { Avatar, Button, ShowIcon, StoryText, TextArea } from '@liaozhai/shared/ui';
import { useId, useState } from 'react';
import { PERSONA_CHARACTERS } from '../model';
import { texts } from '../texts';
import styles from './PersonaEditor.module.css';

interface Bearer {
  name: string;
  avatar: string;
}

interface PersonaEditorProps {
  value: string;
  error: string[] | undefined;
  /** whose persona it is, for the preview */
  bearer: Bearer;
  onChange: (persona: string) => void;
}

function PersonaPreview({ value, bearer }: { value: string; bearer: Bearer }) {
  const paragraphs = value.split(/\n+/u).filter((line) => line.trim() !== '');
  if (paragraphs.length === 0) return <p className={styles.nothing}>{texts.profile.previewEmpty}</p>;
  return (
    <figure className={styles.preview}>
      <figcaption className={styles.bearer}>
        <Avatar name={bearer.name} src={bearer.avatar} decorative />
        {bearer.name}
      </figcaption>
      <StoryText>
        {paragraphs.map((paragraph, index) => (
          <p key={`${index.toString()}-${paragraph}`}>{paragraph}</p>
        ))}
      </StoryText>
    </figure>
  );
}

/** Who the reader is in every story: written, counted, and looked at as the characters will meet it. */
export function PersonaEditor({ value, error, bearer, onChange }: PersonaEditorProps) {
  const [isPreviewed, setPreviewed] = useState(false);
  const previewId = useId();
  return (
    <div className={styles.editor}>
      <TextArea
        label={texts.profile.persona}
        hint={texts.profile.personaHint}
        error={error}
        name="persona"
        placeholder={texts.profile.personaPlaceholder}
        value={value}
        rows={5}
        maxRows={14}
        maxCodePoints={PERSONA_CHARACTERS}
        onChange={(event) => onChange(event.target.value)}
      />
      <div id={previewId}>{isPreviewed && <PersonaPreview value={value} bearer={bearer} />}</div>
      <Button
        variant="quiet"
        small
        icon={<ShowIcon size={18} />}
        aria-expanded={isPreviewed}
        aria-controls={previewId}
        onClick={() => setPreviewed(!isPreviewed)}
      >
        {isPreviewed ? texts.profile.closePreview : texts.profile.preview}
      </Button>
    </div>
  );
}
