import { Link, paths, useUser } from '@liaozhai/shared/runtime';
import { Button } from '@liaozhai/shared/ui';
import type { Story } from '../model';
import { texts } from '../texts';
import styles from './StoryAction.module.css';

/** What a message costs, said before the tap, and the way into the chat. */
export function StoryAction({ story }: { story: Story }) {
  const user = useUser();
  return (
    <div className={styles.bar}>
      <p className={styles.cost}>
        {story.pricePerMessage !== undefined && <span>{texts.story.price(story.pricePerMessage)}</span>}
        {user && <span className={styles.balance}>{texts.story.balance(user.balance)}</span>}
      </p>
      <Button asLink={<Link to={paths.storyChat(story.id)} />}>
        {story.conversationId === null ? texts.story.start : texts.story.resume}
      </Button>
    </div>
  );
}
