import { linesOf, signUpGiftText } from '@liaozhai/shared/format';
import { hostConfig, Link, paths, useCapability, useUser } from '@liaozhai/shared/runtime';
import {
  Avatar,
  Button,
  ChevronRightIcon,
  Foreign,
  Passages,
  RowBoundary,
  ScreenSkeleton,
  StoryText,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type Character, type Story, searchPath } from '../model';
import { texts } from '../texts';
import styles from './StoryBook.module.css';
import { StoryHead } from './StoryFront';

/** The story's page: head, characters, opening, and the link to the chat at the foot. */
export function StoryBook({ story, chatOpen }: { story: Story; chatOpen: boolean }) {
  const canSearch = useCapability('stories.search');
  return (
    <article className={clsx(styles.book, chatOpen && styles.aside)} aria-label={story.title}>
      <div className={styles.front}>
        <StoryHead story={story} tagPath={canSearch ? (tag) => searchPath({ tag }) : undefined} />
      </div>
      <div className={styles.body}>
        {story.summary && (
          <p className={styles.summary}>
            <Foreign long>{story.summary}</Foreign>
          </p>
        )}
        {story.characters.length > 0 && <CharacterList characters={story.characters} />}
        {story.opening && !chatOpen && <StoryOpening story={story} />}
      </div>
      {!chatOpen && <StoryAction story={story} />}
    </article>
  );
}

export function CharacterList({ characters }: { characters: Character[] }) {
  return (
    <section aria-label={texts.story.characters}>
      <h2 className={styles.charactersHeading}>{texts.story.characters}</h2>
      <ul className={styles.characters}>
        {characters.map((each) => (
          <RowBoundary key={each.id} of={each} as="li">
            {({ name, avatarUrl, intro }) => (
              <li className={styles.character}>
                <Avatar name={name} src={avatarUrl} decorative />
                <div>
                  <h3 className={styles.characterName}>
                    <Foreign>{name}</Foreign>
                  </h3>
                  {intro && (
                    <p className={styles.characterIntro}>
                      <Foreign long>{intro}</Foreign>
                    </p>
                  )}
                </div>
              </li>
            )}
          </RowBoundary>
        ))}
      </ul>
    </section>
  );
}

function StoryOpening({ story }: { story: Story }) {
  return (
    <section className={styles.opening} aria-label={texts.story.opening}>
      <h2 className={styles.openingHeading}>{texts.story.opening}</h2>
      <StoryText>
        {linesOf(story.opening).map((paragraph, order) => (
          <p key={`${order.toString()}${paragraph.slice(0, 8)}`}>
            <Passages line={paragraph} />
          </p>
        ))}
      </StoryText>
      {story.conversationId === null && story.openingLines.length > 0 && <OpeningLines story={story} />}
    </section>
  );
}

/** Suggested first messages; a tap opens the chat with the text in its field. */
const OpeningLines = ({ story }: { story: Story }) => (
  <div className={styles.lines}>
    <h3 className={styles.linesHeading}>{texts.story.openingLines}</h3>
    <ul className={styles.lineList}>
      {story.openingLines.map((line, index) => (
        <li key={line}>
          <Link className={styles.line} to={paths.storyChat(story.id, index + 1)}>
            <Foreign>{line}</Foreign>
            <ChevronRightIcon size={18} aria-hidden="true" />
          </Link>
        </li>
      ))}
    </ul>
  </div>
);

/** Price of a message and the link to the chat. */
function StoryAction({ story }: { story: Story }) {
  const user = useUser();
  const gift = user ? '' : signUpGiftText(hostConfig().rules, story.pricePerMessage);
  return (
    <div className={styles.action} data-foot>
      <p className={styles.cost}>
        {story.pricePerMessage !== undefined && <span>{texts.story.price(story.pricePerMessage)}</span>}
        {user?.balance !== undefined && <span className={styles.balance}>{texts.story.balance(user.balance)}</span>}
        {gift && <span className={styles.gift}>{gift}</span>}
      </p>
      <Button asLink={<Link to={paths.storyChat(story.id)} />}>{actionLabel(story)}</Button>
    </div>
  );
}

const actionLabel = ({ conversationId }: Story): string => {
  if (conversationId === undefined) return texts.story.enter;
  return conversationId === null ? texts.story.start : texts.story.resume;
};

export const StorySkeleton = () => (
  <div className={styles.skeleton}>
    <ScreenSkeleton shape="story" label={texts.story.loading} />
  </div>
);
