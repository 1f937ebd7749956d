import { inSentence } from '@liaozhai/shared/format';
import { useFontSize } from '@liaozhai/shared/runtime';
import { Button, FONT_SIZES, Foreign, RadioGroup, ShareIcon, Sheet } from '@liaozhai/shared/ui';
import type { Progress, Story } from '../model';
import { texts } from '../texts';
import { CharacterList } from './StoryBook';
import styles from './StorySheet.module.css';
import { useFavorite } from './useFavorite';

export interface StorySheetProps {
  open: boolean;
  story: Story;
  onShare: () => void;
  onClose: () => void;
}

const words = texts.story;

/** About the story of the open chat: progress, summary and characters; also sets the font size. */
export default function StorySheet({ open, story, onShare, onClose }: StorySheetProps) {
  const [fontSize, setFontSize] = useFontSize();
  const favorite = useFavorite(story);
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={story.title}
      footer={
        <div className={styles.acts}>
          {favorite && (
            <Button block variant="quiet" icon={<favorite.Icon size={18} />} onClick={favorite.toggle}>
              {favorite.label}
            </Button>
          )}
          <Button block variant="quiet" icon={<ShareIcon size={18} />} onClick={onShare}>
            {words.share}
          </Button>
        </div>
      }
    >
      <div className={styles.parts}>
        {story.progress && <ProgressPart progress={story.progress} />}
        {story.summary && (
          <p className={styles.summary}>
            <Foreign long>{story.summary}</Foreign>
          </p>
        )}
        {story.characters.length > 0 && <CharacterList characters={story.characters} />}
        <RadioGroup
          legend={words.fontSize}
          name="story-font-size"
          options={FONT_SIZES}
          value={`${fontSize}` as const}
          onChange={(value) => setFontSize(Number(value) as typeof fontSize)}
        />
      </div>
    </Sheet>
  );
}

/** More marks than this have no room side by side. */
const MAX_MARKS = 40;

function ProgressPart({ progress }: { progress: Progress }) {
  const { scene, scenes, title, endings, endingsCount } = progress;
  return (
    <section aria-label={words.progress}>
      <p className={styles.scene}>
        <span>{words.scene(scene, scenes)}</span>
        {title && <span className={styles.sceneTitle}>{inSentence(title)}</span>}
      </p>
      {scenes <= MAX_MARKS && (
        <div className={styles.track} aria-hidden="true">
          {Array.from({ length: scenes }, (_, index) => (
            <span key={`scene ${index + 1}`} data-told={index < scene || undefined} />
          ))}
        </div>
      )}
      <p className={styles.endings}>
        {endings.length === 0
          ? words.noEnding(endingsCount)
          : `${words.endings(endings.length, endingsCount)}：${endings.map(inSentence).join('、')}`}
      </p>
    </section>
  );
}
