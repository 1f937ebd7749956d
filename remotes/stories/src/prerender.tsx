import { endpoints, paths } from '@liaozhai/shared/contract';
import { TopBar } from '@liaozhai/shared/ui';
import { StoryFront } from './components/StoryFront';
import { StoryGrid } from './components/StoryGrid';
import { Wordmark } from './components/Wordmark';
import { toStory } from './model';
import styles from './pages/StoryListPage.module.css';
import storyStyles from './pages/StoryReadPage.module.css';
import { texts } from './texts';

const PLACEHOLDER_COUNT = 6;

/** A story with tokens as fields, which the server replaces with the API's values at `path`. */
const placeholder = (path: string) => {
  const token = (field: string) => `lz-${path}.${field}-lz`;
  return toStory({
    id: token('id'),
    title: token('title'),
    cover_url: token('cover_url'),
    summary: token('summary'),
    tags: [token('tags')],
    characters: [],
  });
};

/** Preview of a shared link to a story. */
const storyCard = {
  title: 'lz-data.title-lz',
  description: 'lz-data.summary-lz',
  image: ['lz-data.share_image_url-lz', 'lz-data.cover_url-lz', '/icon-512.png'],
};

/** The shelf's first view and a story's head, prerendered with the app's components, so that nothing moves when the app starts. */
export const contents = [
  {
    route: 'explore',
    source: endpoints.stories,
    notWith: ['q', 'tag', 'sort'],
    omit: ['opening', 'opening_lines', 'characters', 'share_image_url', 'created_at', 'updated_at'],
    element: (
      <div className={styles.page}>
        <Wordmark onRefresh={async () => {}} />
        <div className={styles.reserved} />
        <div className={styles.tiles} data-slot="explore.tiles" hidden />
        <section aria-label={texts.list.label}>
          <StoryGrid stories={Array.from({ length: PLACEHOLDER_COUNT }, (_, index) => placeholder(`data.${index}`))} />
        </section>
      </div>
    ),
  },
  {
    route: 'story',
    source: '/v1/stories/:id',
    notWith: 'chat',
    card: storyCard,
    element: (
      <div className={storyStyles.screen}>
        {/* links that work before scripts have loaded */}
        <TopBar title="lz-data.title-lz" variant="clear" backLink={<a href={paths.explore()}>{texts.story.back}</a>} />
        <StoryFront story={{ ...placeholder('data'), authorName: 'lz-data.author.name-lz' }} />
      </div>
    ),
  },
];
